/** The rows that a look goes through: the newest first, or in an order by time. */
import { FAILED, type ListFilter, type StateCode, type TimeOrder } from '@millrace/core'
import { spanOf } from '@millrace/core/kernel'
import { type Place, seqsIn, unpackRanges } from '@millrace/sql'
import type { Value } from '../bridge/statement.ts'
import type { Connection } from '../connection.ts'
import type { Part, Parts } from './scan.ts'

/** The rows and the batches of a part. */
const PART_ROWS = 512
const PART_BATCHES = 32

/** A place in an order by time. */
export type TimePlace = Required<Place>

const FIRST: TimePlace = { at: Number.MAX_SAFE_INTEGER, seq: Number.MAX_SAFE_INTEGER }

/** Yields the rows behind one, newest first unless they ascend: those of a flow, those with a tag, or all. */
export function* arrivalParts(connection: Connection, filter: ListFilter, before: number, ascending = false): Parts {
  const order = ascending ? 'seq > $1 ORDER BY seq' : 'seq < $1 ORDER BY seq DESC'
  const { first, last } = spanOf(filter)
  const all = `SELECT seq FROM job WHERE seq BETWEEN $2 AND $3 AND ${order} LIMIT ${PART_ROWS}`
  const tagged = `SELECT seq FROM tag WHERE tag = $2 AND ${order} LIMIT ${PART_ROWS}`
  const isTagged = filter.tag !== undefined && filter.flow === undefined
  for (let end = before; ; ) {
    const seqs = isTagged ? connection.pluck<number>(tagged, end, filter.tag) : connection.pluck<number>(all, end, first, last)
    const farthest = seqs.at(-1)
    if (farthest === undefined) return
    yield { places: seqs.map((seq) => ({ seq })), end: { seq: farthest } }
    if (seqs.length < PART_ROWS) return
    end = farthest
  }
}

/** Yields rows in an order: scheduled jobs by their due time, final ones by their end. */
export function orderedParts(
  connection: Connection,
  order: TimeOrder,
  filter: ListFilter,
  laneIds: readonly number[],
  from: TimePlace | undefined,
): Parts {
  if (order === 'due') return dueParts(connection, from)
  return filter.state === FAILED ? failedParts(connection, laneIds, from) : endedParts(connection, laneIds, filter, from)
}

function dueParts(connection: Connection, from: TimePlace = { at: -1, seq: 0 }): Parts {
  const sql = `SELECT run_at, seq FROM scheduled WHERE (run_at, seq) > ($1, $2) ORDER BY run_at, seq LIMIT ${PART_ROWS}`
  return timedParts(connection, sql, [], from)
}

/** The places are by lane: so this takes the last of each lane, and of those the last of all. */
function failedParts(connection: Connection, laneIds: readonly number[], from: TimePlace = FIRST): Parts {
  const sql = `SELECT place.finished_at, place.seq FROM unnest($3::bigint[]) AS asked (lane) CROSS JOIN LATERAL (
  SELECT finished_at, seq FROM failed WHERE failed.lane = asked.lane AND (finished_at, seq) < ($1, $2) ORDER BY finished_at DESC, seq DESC LIMIT ${PART_ROWS}
) AS place ORDER BY place.finished_at DESC, place.seq DESC LIMIT ${PART_ROWS}`
  return timedParts(connection, sql, [laneIds], from)
}

function* timedParts(connection: Connection, sql: string, values: readonly Value[], from: TimePlace): Parts {
  for (let place = from; ; ) {
    const places = connection.all<[at: number, seq: number]>(sql, place.at, place.seq, ...values).map(([at, seq]) => ({ at, seq }))
    const end = places.at(-1)
    if (end === undefined) return
    yield { places, end }
    if (places.length < PART_ROWS) return
    place = end
  }
}

type Batch = [turn: number, at: number, lane: number, seqs: Uint8Array]

/**
 * Completed and cancelled jobs come from the batches in which they finished, the last turn first. A batch is a hint: a job in it may have
 * been brought back since. The place of a job is its turn, because turns never go back, as clocks may.
 */
function* endedParts(connection: Connection, laneIds: readonly number[], filter: ListFilter, from: TimePlace | undefined): Parts {
  const { state, finishedAfter = 0, finishedBefore = Number.MAX_SAFE_INTEGER } = filter
  const listed = (table: string) => `SELECT turn, at, lane, seqs FROM ${table}
WHERE queue IN (SELECT lane.queue FROM lane WHERE lane.id = ANY ($1::bigint[])) AND lane = ANY ($1::bigint[]) AND state = $2 AND turn < $3`
  const sql = `${listed('finished')} UNION ALL ${listed('kept')}
ORDER BY turn DESC FETCH FIRST ${PART_BATCHES} ROWS WITH TIES`
  // The page before may have ended within a turn.
  let before = from === undefined ? Number.MAX_SAFE_INTEGER : from.at + 1
  for (;;) {
    const batches = connection.all<Batch>(sql, laneIds, state as StateCode, before)
    const last = batches.at(-1)
    if (last === undefined) return
    const listed = batches
      .filter(([, at]) => at >= finishedAfter && at < finishedBefore)
      .flatMap(([turn, at, , packed]) => seqsIn(unpackRanges(packed)).map((seq) => ({ turn, at, seq })))
      .filter(({ turn, seq }) => from === undefined || turn !== from.at || seq < from.seq)
    yield { places: stillThere(connection, listed, state as StateCode), end: { at: last[0], seq: 0 } }
    before = last[0]
  }
}

interface Listed {
  readonly turn: number
  readonly at: number
  readonly seq: number
}

/** Returns the places of those that ended then, and are still in that state. */
function stillThere(connection: Connection, listed: readonly Listed[], state: StateCode): Part['places'] {
  const sql = `SELECT listed.place FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS listed (seq, at, place)
JOIN job ON job.seq = listed.seq WHERE job.state = $3 AND job.finished_at = listed.at`
  const there = connection.pluck<number>(
    sql,
    listed.map(({ seq }) => seq),
    listed.map(({ at }) => at),
    state,
  )
  const places = there.map((place) => listed[place - 1] as Listed).map(({ turn, seq }) => ({ at: turn, seq }))
  return places.sort((one, other) => other.at - one.at || other.seq - one.seq)
}

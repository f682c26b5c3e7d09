/** The rows that a look goes through in an order by time: scheduled jobs by their due time, final ones by their end. */
import { FAILED, type ListFilter, SCHEDULED, type StateCode, type TimeOrder } from '@millrace/core'
import { type Place, seqsIn, unpackRanges } from '@millrace/sql'
import type { Database } from '../driver.ts'
import type { Part } from './scan.ts'
import { type Lanes, prepareFailedLanes, prepareQueuesOf, RETRYING } from './selection.ts'

/** The rows and the batches of a part. */
const PART_ROWS = 128
const PART_BATCHES = 32

/** A place in an order, which `at` tells with `seq`. */
export type TimePlace = Required<Place>

export type OrderedParts = (order: TimeOrder, filter: ListFilter, lanes: Lanes, from: TimePlace | undefined) => Iterable<Part>

type RawPlace = [at: number, seq: number]
type Batch = [turn: number, at: number, lane: number, seqs: Uint8Array]

const FIRST: TimePlace = { at: Number.MAX_SAFE_INTEGER, seq: Number.MAX_SAFE_INTEGER }

export function prepareOrderedParts(db: Database): OrderedParts {
  const due = prepareDueParts(db)
  const failed = prepareFailedParts(db)
  const ended = prepareEndedParts(db)
  return (order, filter, lanes, from) => {
    if (order === 'due') return due(filter, from)
    return filter.state === FAILED ? failed(lanes, filter, from) : ended(lanes, filter, from)
  }
}

/** The indexes of scheduled jobs do not know the lane. Jobs that wait for another attempt have one of their own. */
function prepareDueParts(db: Database): (filter: ListFilter, from: TimePlace | undefined) => Iterable<Part> {
  const prepare = (index: string, which: string) =>
    db
      .prepare(`SELECT run_at, seq FROM job INDEXED BY ${index} WHERE ${which} AND (run_at, seq) > (?, ?) ORDER BY run_at, seq LIMIT ?`)
      .raw()
  const scheduled = prepare('job_scheduled', `state = ${SCHEDULED}`)
  const retrying = prepare('job_retrying', RETRYING)
  return function* due(filter, from = { at: -1, seq: 0 }) {
    const read = filter.retrying === true ? retrying : scheduled
    for (let place = from; ; ) {
      const rows = placesFrom(read.all(place.at, place.seq, PART_ROWS) as RawPlace[])
      const end = rows.at(-1)
      if (end === undefined) return
      yield { rows, end }
      if (rows.length < PART_ROWS) return
      place = end
    }
  }
}

/** The index is by lane: so this takes the last of each lane, and of those the last of all. */
function prepareFailedParts(db: Database): (lanes: Lanes, filter: ListFilter, from: TimePlace | undefined) => Iterable<Part> {
  const read = db
    .prepare(
      `SELECT finished_at, seq FROM job
WHERE lane = ? AND state = ${FAILED} AND (finished_at, seq) < (?, ?) ORDER BY finished_at DESC, seq DESC LIMIT ?`,
    )
    .raw()
  const withFailed = prepareFailedLanes(db)
  return function* failed(chosen, { finishedAfter = 0, finishedBefore }, from = FIRST) {
    // No job has the number 0: the place is behind all that failed before that time.
    let place = finishedBefore !== undefined && finishedBefore <= from.at ? { at: finishedBefore, seq: 0 } : from
    for (let lanes = withFailed(chosen); ; ) {
      const of = (lane: number, limit: number) => placesFrom(read.all(lane, place.at, place.seq, limit) as RawPlace[])
      const heads = lanes.flatMap((lane) => of(lane, 1).map((head) => ({ lane, head })))
      heads.sort((a, b) => latestFirst(a.head, b.head))
      lanes = heads.map(({ lane }) => lane)
      const rows = lanes.slice(0, PART_ROWS).flatMap((lane) => of(lane, PART_ROWS))
      const part = rows
        .sort(latestFirst)
        .slice(0, PART_ROWS)
        .filter(({ at }) => at >= finishedAfter)
      const end = part.at(-1)
      if (end === undefined) return
      yield { rows: part, end }
      place = end
    }
  }
}

/**
 * Completed and cancelled jobs come from the batches in which they finished, the last turn first. A batch is a hint: a job in it may have
 * been brought back since. The place of a job is its turn, because turns never go back, as clocks may.
 */
function prepareEndedParts(db: Database): (lanes: Lanes, filter: ListFilter, from: TimePlace | undefined) => Iterable<Part> {
  const queuesOf = prepareQueuesOf(db)
  const read = db
    .prepare(
      `${['finished', 'kept'].map((table) => `SELECT turn, at, lane, seqs FROM ${table} WHERE queue = ? AND state = ? AND turn < ?`).join('\nUNION ALL ')}
ORDER BY turn DESC LIMIT ?`,
    )
    .raw()
  const still = db
    .prepare(
      `SELECT job.seq FROM json_each(?) AS listed CROSS JOIN job ON job.seq = listed.value
WHERE job.state = ? AND job.finished_at = ?`,
    )
    .pluck()

  const readLast = (queue: number, state: StateCode, before: number, limit: number): Batch[] =>
    read.all(queue, state, before, queue, state, before, limit) as Batch[]

  /** Returns the batches of the last turns before one, without a part of a turn. */
  const lastTurns = (queueIds: readonly number[], state: StateCode, before: number): Batch[] => {
    for (let limit = PART_BATCHES; ; limit *= 2) {
      const heads = queueIds.flatMap((queue) => readLast(queue, state, before, 1).map(([turn]) => ({ queue, turn })))
      const last = heads.sort((a, b) => b.turn - a.turn).slice(0, limit)
      const batches = last.flatMap(({ queue }) => readLast(queue, state, before, limit)).sort(([a], [b]) => b - a)
      if (batches.length < limit) return batches
      const cut = (batches[limit - 1] as Batch)[0]
      const whole = batches.filter(([turn]) => turn > cut)
      if (whole.length > 0) return whole
    }
  }

  return function* ended(lanes, { state, finishedAfter = 0, finishedBefore = Number.MAX_SAFE_INTEGER }, from) {
    const queueIds = queuesOf(lanes)
    const ids = lanes.ids === null ? undefined : new Set(lanes.ids)
    // The page before may have ended within a turn.
    let before = from === undefined ? Number.MAX_SAFE_INTEGER : from.at + 1
    for (;;) {
      const batches = lastTurns(queueIds, state as StateCode, before)
      const last = batches.at(-1)
      if (last === undefined) return
      for (const turn of new Set(batches.map(([each]) => each))) {
        const seqs = new Set<number>()
        for (const [each, at, lane, packed] of batches) {
          if (each !== turn || at < finishedAfter || at >= finishedBefore || ids?.has(lane) === false) continue
          const listed = seqsIn(unpackRanges(packed)).filter((seq) => turn !== from?.at || seq < from.seq)
          for (const seq of still.all(JSON.stringify(listed), state, at) as number[]) seqs.add(seq)
        }
        const rows = [...seqs].sort((a, b) => b - a).map((seq) => ({ at: turn, seq }))
        if (rows.length > 0 || turn !== from?.at) yield { rows, end: rows.at(-1) ?? { at: turn, seq: 0 } }
      }
      before = last[0]
    }
  }
}

function placesFrom(rows: readonly RawPlace[]): TimePlace[] {
  return rows.map(([at, seq]) => ({ at, seq }))
}

function latestFirst(one: TimePlace, other: TimePlace): number {
  return other.at - one.at || other.seq - one.seq
}

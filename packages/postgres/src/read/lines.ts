/** Reads the lines in which jobs wait: windows of lanes, parked jobs, arrivals, the turns of keys, and jobs that failed. */
import type { FailedPlace } from '@millrace/core'
import type { JobRow, LaneCursor, TurnQuery, TurnRow } from '@millrace/core/kernel'
import type { Connection } from '../connection.ts'
import { BARE_BYTES, BARE_JOB_ROW, PAYLOAD_BYTES } from '../tables/job.ts'
import { type Bounded, fittingOf, readBounded, readInOrder, type Sized } from './bounded.ts'
import { readWithin } from './jobs.ts'

export type ReadWindow = (id: number, after: LaneCursor | undefined, jobs: number, bytes: number) => Bounded

/** The limit for one slice's payloads: a slice of large ones is shorter than requested. */
const SLICE_BYTES = 64 * 2 ** 20

export function prepareWindow(connection: Connection): ReadWindow {
  return inLine(connection, 'waiting', 'lane')
}

/** Reads the next parked jobs of a gate. */
export function prepareParked(connection: Connection): ReadWindow {
  return inLine(connection, 'parked', 'gate')
}

function inLine(connection: Connection, table: string, id: string): ReadWindow {
  const line = (behind: string, limit: string) => `SELECT job.seq, ${PAYLOAD_BYTES}
FROM (SELECT seq, rank, run_at FROM ${table} WHERE ${id} = $1 ${behind} ORDER BY rank, run_at, seq LIMIT ${limit}) AS place
JOIN job ON job.seq = place.seq ORDER BY place.rank, place.run_at, place.seq`
  const first = line('', '$2')
  const next = line('AND (rank, run_at, seq) > ($2, $3, $4)', '$5')
  return (of, after, limit, bytes) =>
    after === undefined
      ? readBounded(connection, first, [of], { limit, bytes })
      : readBounded(connection, next, [of, 0 - after.priority, after.runAt, after.seq], { limit, bytes })
}

/** Returns when the longest waiting job of a line became due: the earliest of each priority's first, hopping from one to the next. */
function prepareOldest(connection: Connection, table: string, id: string): (id: number) => number {
  const sql = `WITH RECURSIVE hop (rank) AS (
  (SELECT rank FROM ${table} WHERE ${id} = $1 ORDER BY rank LIMIT 1)
  UNION ALL
  SELECT (SELECT next.rank FROM ${table} AS next WHERE next.${id} = $1 AND next.rank > hop.rank ORDER BY next.rank LIMIT 1) FROM hop
  WHERE hop.rank IS NOT NULL
)
SELECT min((SELECT first.run_at FROM ${table} AS first WHERE first.${id} = $1 AND first.rank = hop.rank ORDER BY first.run_at LIMIT 1))
FROM hop WHERE hop.rank IS NOT NULL`
  return (of) => connection.pluck<number | null>(sql, of)[0] ?? 0
}

export const prepareOldestWaiting = (connection: Connection) => prepareOldest(connection, 'waiting', 'lane')
export const prepareOldestParked = (connection: Connection) => prepareOldest(connection, 'parked', 'gate')

export function prepareArrivals(connection: Connection): (queueId: number, limit: number, bytes: number) => Bounded {
  const sql = `SELECT job.seq, ${BARE_BYTES} FROM (SELECT seq FROM arrival WHERE queue = $1 ORDER BY seq LIMIT $2) AS place
JOIN job ON job.seq = place.seq ORDER BY place.seq`
  return (queueId, limit, bytes) => readBounded(connection, sql, [queueId], { limit, bytes, columns: BARE_JOB_ROW })
}

type RawTurn = [place: number, taken: number, seq: number | null, bytes: number | null]

/** Reads the job that has a key's turn: the job that has taken it, or the first that is parked, by arrival. */
export function prepareKeyTurns(connection: Connection): (keys: readonly TurnQuery[], bytes: number) => TurnRow[] {
  const holders = `SELECT asked.place, key_turn.seq FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS asked (queue, key, place)
JOIN key_turn ON key_turn.queue = asked.queue AND key_turn.key = asked.key`
  const firsts = `SELECT asked.place, min(first.seq) FROM unnest($1::bigint[], $2::bigint[]) AS asked (place, gate)
CROSS JOIN LATERAL (SELECT seq FROM strict WHERE strict.gate = asked.gate ORDER BY seq LIMIT 1) AS first GROUP BY asked.place`
  const sizes = `SELECT seq, ${PAYLOAD_BYTES} FROM job WHERE seq = ANY ($1::bigint[])`
  return (keys, bytesMax) => {
    const gates = keys.flatMap(({ backlogIds }, index) => backlogIds.map((gate) => ({ place: index + 1, gate })))
    const [held = [], parked = []] = connection.many([
      { text: holders, values: [keys.map(({ queueId }) => queueId), keys.map(({ key }) => key)] },
      { text: firsts, values: [gates.map(({ place }) => place), gates.map(({ gate }) => gate)] },
    ]) as unknown as [number, number][][]
    const taken = new Map(held)
    const first = new Map(parked)
    const seqs = keys.map((_key, index) => taken.get(index + 1) ?? first.get(index + 1))
    const bytes = new Map(
      connection.all<Sized>(
        sizes,
        seqs.flatMap((seq) => seq ?? []),
      ),
    )
    const turns = seqs.map((seq, index): RawTurn => [index, taken.has(index + 1) ? 1 : 0, seq ?? null, bytes.get(seq ?? 0) ?? 0])
    const fitting = fittingOf(
      turns.map(([place, , , size]) => [place, size ?? 0]),
      turns.length,
      bytesMax,
    )
    const chosen = turns.slice(0, fitting.length)
    const rows = new Map(
      readInOrder(
        connection,
        chosen.flatMap(([, , seq]) => seq ?? []),
      ).map((row) => [row.seq, row]),
    )
    return chosen.map(([, isTaken, seq]) => ({ row: seq === null ? undefined : rows.get(seq), taken: isTaken === 1 }))
  }
}

export function prepareFailed(connection: Connection): (laneIds: readonly number[], after: FailedPlace, limit: number) => JobRow[] {
  // The place is by lane, so this takes the oldest of each lane, and of those the oldest of all.
  const sql = `SELECT place.seq FROM unnest($1::bigint[]) AS asked (lane) CROSS JOIN LATERAL (
  SELECT finished_at, seq FROM failed WHERE failed.lane = asked.lane AND (finished_at, seq) > ($2, $3) ORDER BY finished_at, seq LIMIT $4
) AS place ORDER BY place.finished_at, place.seq LIMIT $4`
  return (laneIds, { finishedAt, seq }, limit) =>
    readWithin(connection, connection.pluck<number>(sql, laneIds, finishedAt, seq, limit), SLICE_BYTES)
}

/** Finished jobs, oldest first: what retention deletes and what a redrive brings back. */
import { FAILED, type FailedPlace, type JobRow, type PrunableRow, type StateCode } from '@millrace/core'
import type { Database } from '../driver.ts'
import { prepareJobsWithin } from './jobs.ts'
import { extrasFrom } from './row.ts'

/** One slice's payloads: a slice of large ones is shorter than it was asked to be. */
const SLICE_BYTES = 64 * 2 ** 20

export type ReadPrunable = (laneIds: readonly number[], state: StateCode, before: number, limit: number) => PrunableRow[]
export type ReadFailed = (laneIds: readonly number[], after: FailedPlace, limit: number) => JobRow[]

type Place = [finishedAt: number, seq: number]
type Old = [finishedAt: number, seq: number, laneId: number, extras: string | null, bytes: number]

export function prepareFinished(db: Database): { prunable: ReadPrunable; failed: ReadFailed } {
  // `octet_length` is read off the row's head: the payload itself stays on disk.
  const old = db
    .prepare(
      `SELECT finished_at, seq, lane, extras, ${['data', 'checkpoint', 'output'].map((column) => `coalesce(octet_length(${column}), 0)`).join(' + ')}
FROM job WHERE lane = ? AND state = ? AND finished_at < ? ORDER BY finished_at, seq LIMIT ?`,
    )
    .raw()
  const failedPlaces = db
    .prepare(
      'SELECT finished_at, seq FROM job WHERE lane = ? AND state = ? AND finished_at >= ? AND (finished_at, seq) > (?, ?) ORDER BY finished_at, seq LIMIT ?',
    )
    .raw()
  const jobs = prepareJobsWithin(db, SLICE_BYTES)

  // The index is by lane: the oldest of each lane, and of those the oldest of all.
  return {
    prunable: (laneIds, state, before, limit) => {
      const candidates = laneIds.flatMap((lane) => old.all(lane, state, before, limit) as Old[])
      const rows: PrunableRow[] = []
      let bytes = 0
      for (const [, seq, laneId, extras, size] of oldest(candidates, laneIds, limit)) {
        bytes += size
        if (bytes > SLICE_BYTES && rows.length > 0) break
        rows.push({ seq, laneId, state, extras: extrasFrom(extras) })
      }
      return rows
    },
    failed: (laneIds, { finishedAt, seq }, limit) => {
      const candidates = laneIds.flatMap((lane) => failedPlaces.all(lane, FAILED, finishedAt, finishedAt, seq, limit) as Place[])
      return jobs(oldest(candidates, laneIds, limit).map((place) => place[1]))
    },
  }
}

/** Those of one lane come in order. */
function oldest<Found extends readonly [number, number, ...unknown[]]>(found: Found[], laneIds: readonly number[], limit: number): Found[] {
  if (laneIds.length > 1) found.sort(byAge)
  return found.slice(0, limit)
}

function byAge([a, aSeq]: readonly [number, number, ...unknown[]], [b, bSeq]: readonly [number, number, ...unknown[]]): number {
  return a - b || aSeq - bSeq
}

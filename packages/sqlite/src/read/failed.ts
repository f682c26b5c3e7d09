/** Reads failed jobs, oldest failure first: the jobs that a redrive brings back. */
import { type FailedPlace, LIMITS } from '@millrace/core'
import type { JobRow } from '@millrace/core/kernel'
import type { Database } from '../driver.ts'
import { prepareJobsWithin } from './jobs.ts'

export type ReadFailed = (laneIds: readonly number[], after: FailedPlace, limit: number) => JobRow[]

type Place = [finishedAt: number, seq: number]

export function prepareFailed(db: Database): ReadFailed {
  const places = db
    .prepare(
      'SELECT finished_at, seq FROM job WHERE lane = ? AND state = 5 AND (finished_at, seq) > (?, ?) ORDER BY finished_at, seq LIMIT ?',
    )
    .raw()
  const jobs = prepareJobsWithin(db, LIMITS.sliceBytes)
  return (laneIds, { finishedAt, seq }, limit) => {
    // The index is by lane, so this takes the oldest of each lane, and of those the oldest of all. Only these are read whole.
    const candidates = laneIds.flatMap((lane) => places.all(lane, finishedAt, seq, limit) as Place[])
    if (laneIds.length > 1) candidates.sort(([a, aSeq], [b, bSeq]) => a - b || aSeq - bSeq)
    return jobs(candidates.slice(0, limit).map((place) => place[1]))
  }
}

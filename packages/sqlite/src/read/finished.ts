/** Finished jobs, oldest first: what retention deletes and what a redrive brings back. */
import { FAILED, type FailedPlace, type JobRow, type StateCode } from '@millrace/core'
import type { Database } from '../driver.ts'
import { prepareJobsWithin } from './jobs.ts'

/** One slice's payloads: a slice of large ones is shorter than it was asked to be. */
const SLICE_BYTES = 64 * 2 ** 20

export type ReadFinished = (queueId: number, state: StateCode, before: number, limit: number) => JobRow[]
export type ReadFailed = (laneIds: readonly number[], after: FailedPlace, limit: number) => JobRow[]

const FIRST: FailedPlace = { finishedAt: -1, seq: -1 }

type Place = [finishedAt: number, seq: number]

export function prepareFinished(db: Database): { finished: ReadFinished; failed: ReadFailed } {
  const lanes = db.prepare('SELECT id FROM lane WHERE queue = ?').pluck()
  const places = db
    .prepare(
      'SELECT finished_at, seq FROM job WHERE lane = ? AND state = ? AND finished_at < ? AND (finished_at, seq) > (?, ?) ORDER BY finished_at, seq LIMIT ?',
    )
    .raw()
  const jobs = prepareJobsWithin(db, SLICE_BYTES)

  /** The index is by lane: the oldest of each lane, and of those the oldest of all. Only these are read whole. */
  const oldest = (laneIds: readonly number[], state: StateCode, before: number, after: FailedPlace, limit: number): JobRow[] => {
    const candidates = laneIds.flatMap((lane) => places.all(lane, state, before, after.finishedAt, after.seq, limit) as Place[])
    if (laneIds.length > 1) candidates.sort(byAge)
    return jobs(candidates.slice(0, limit).map(([, seq]) => seq))
  }

  return {
    finished: (queueId, state, before, limit) => oldest(lanes.all(queueId) as number[], state, before, FIRST, limit),
    failed: (laneIds, after, limit) => oldest(laneIds, FAILED, Number.MAX_SAFE_INTEGER, after, limit),
  }
}

function byAge([a, aSeq]: Place, [b, bSeq]: Place): number {
  return a - b || aSeq - bSeq
}

/** Puts the jobs that a turn has finished into batches. */
import type { StateCode } from '@millrace/core'
import { DIRTY_DELETE, type Job, type PrunedJob } from '@millrace/core/kernel'

export interface FinishedBatch {
  readonly lane: PrunedJob['lane']
  readonly state: StateCode
  readonly seqs: number[]
  /** Their own time to be kept, in milliseconds; undefined: that of their queue. */
  readonly keep: number | undefined
}

/** More than the number of states. */
const STATES = 8

/** Returns the jobs that a turn has finished and left there, by lane, state and their own time to be kept. */
export function batchesOf(settled: readonly Job[], at: number): Iterable<FinishedBatch> {
  const batches = new Map<number | string, FinishedBatch>()
  for (const { seq, lane, state, finishedAt, dirty, policy } of settled) {
    // The turn that finished this job also brought it back or deleted it.
    if (finishedAt !== at || dirty & DIRTY_DELETE) continue
    const place = lane.id * STATES + state
    const { keep } = policy
    const key = keep === undefined ? place : `${place} ${keep}`
    const batch = batches.get(key)
    if (batch === undefined) batches.set(key, { lane, state, seqs: [seq], keep })
    else batch.seqs.push(seq)
  }
  return batches.values()
}

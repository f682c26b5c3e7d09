/** A job's row as `get` and `list` tell it. */

import type { Now } from '../../clock.ts'
import { CANCELLED, STATES } from '../../lifecycle.ts'
import { LIMITS } from '../../limits.ts'
import { mapJobTexts } from '../../options/jobTexts.ts'
import { parsePolicy } from '../../policy.ts'
import type { AttemptView, FlowView, JobView, LastRunView } from '../../replies.ts'
import { timeAfter } from '../records/bucket.ts'
import type { Job } from '../records/job.ts'
import type { JobRow } from '../records/rows.ts'
import { DROPPED } from './drop.ts'

export function viewOf(row: JobRow, queue: string, name: string, attempts: readonly AttemptView[]): JobView {
  const { text: _text, ...policy } = parsePolicy(row.policy)
  return {
    seq: row.seq,
    node: row.node,
    enqueuedAt: row.enqueuedAt,
    name,
    queue,
    state: STATES[row.state],
    data: row.data,
    output: row.output,
    checkpoint: row.checkpoint,
    run: row.run,
    attempt: row.run - row.uncounted,
    ...policy,
    priority: row.priority,
    weight: row.weight,
    runAt: row.runAt,
    ...(row.extras?.due !== undefined && { originalRunAt: row.extras.due }),
    expiresAt: row.expiresAt,
    startedAt: row.startedAt,
    finishedAt: row.finishedAt,
    progress: row.progress,
    cancelRequested: row.cancelRequested,
    ...cancellationOf(row),
    ...(row.extras?.lost !== undefined && { lostRuns: row.extras.lost }),
    tags: row.extras?.tags ?? [],
    meta: row.extras?.meta ?? null,
    idempotencyKey: row.extras?.idempotencyKey ?? null,
    uniqueKey: row.extras?.uniqueKey ?? null,
    ...mapJobTexts((name) => row.extras?.[name] ?? null),
    flow: flowOf(row),
    attempts,
    ...(row.lastRun !== undefined && { lastRun: row.lastRun }),
    ...(row.bytes !== undefined && { bytes: row.bytes }),
  }
}

/** Returns the time at which the engine ends a run, or 0 if there is no run, or nothing limits it. A heartbeat may move it. */
export function deadlineAt(job: Job | undefined, { wall, mono }: Now): number {
  return job === undefined || job.deadlinePlace < 0 ? 0 : timeAfter(wall, job.deadlineMono - mono)
}

/** Says nothing of a job that has ended otherwise, and only passes on what was said of its flow. */
function cancellationOf({ state, cancelRequested, extras }: JobRow): Pick<JobView, 'cancellation'> {
  const { cancel } = extras ?? {}
  return cancel !== undefined && (state === CANCELLED || cancelRequested) ? { cancellation: cancel } : {}
}

/** Returns the attempt of a job that was dropped: it had no run, and this says why. */
export function droppedAttempt({ run, finishedAt }: JobRow): AttemptView {
  return { run, attempt: 0, startedAt: 0, endedAt: finishedAt, worker: '', error: DROPPED, logs: [] }
}

/** Returns a run in short. */
export function lastRunOf({ run, startedAt, endedAt, worker, error }: AttemptView): LastRunView {
  const short = error && { name: error.name, message: error.message.slice(0, LIMITS.lastErrorLength) }
  return { run, startedAt, endedAt, worker, ...(short && { error: short }) }
}

/** A flow's jobs are created in one commit: their ids differ in the row alone. */
function flowOf({ node, enqueuedAt, extras }: JobRow): FlowView | null {
  if (extras?.flow === undefined) return null
  const { first, ref, parents, onFailure } = extras.flow
  return { first: { seq: first, node, enqueuedAt }, ref, parents, onParentFailure: onFailure }
}

/**
 * Ends runs: a run leaves its session and its deadline, and then moves to its next state. Every way to end a run goes through
 * `release`, so that a slot is given back exactly once.
 */

import { backoffDelay } from '../../backoff.ts'
import type { CompleteCommand, RunKey } from '../../commands.ts'
import { fingerprintOf } from '../../fingerprint.ts'
import { formatId } from '../../id.ts'
import { ACTIVE, CANCELLED, COMPLETED, FAILED, SCHEDULED, WAITING } from '../../lifecycle.ts'
import { retentionOf } from '../../queueSettings.ts'
import { type Keep, keepsNone, type Retention } from '../../retention.ts'
import type { RunError } from '../../runError.ts'
import { outlive, tellLater } from '../flows/flowEnds.ts'
import { endTurn } from '../keys/strict.ts'
import { enterLine } from '../queues/line.ts'
import { holderOf } from '../sessions/holders.ts'
import type { Sender, TurnContext } from '../turn.ts'
import { exclusiveKey } from './coalescing.ts'
import { attemptOf, DIRTY_COMPLETE, DIRTY_DELETE, DIRTY_OTHER, type Job } from './job.ts'

/** The fence: returns the job if this is its current run and the sender's connection holds it, otherwise undefined. */
export function runOf({ tables }: Pick<TurnContext, 'tables'>, { seq, run }: RunKey, { connection }: Sender): Job | undefined {
  const job = tables.jobs.get(seq)
  return job !== undefined && job.state === ACTIVE && job.run === run && holderOf(tables, job) === connection ? job : undefined
}

function release({ tables }: TurnContext, job: Job): void {
  const { session } = job
  tables.jobs.delete(job.seq)
  tables.keys.ended(job)
  tables.dispatchable.resume(job.lane.queue)
  tables.clearDeadline(job)
  job.abort = undefined
  if (session === undefined) {
    for (const { jobs } of tables.unattached.values()) jobs.delete(job)
    return
  }
  session.jobs.delete(job)
  session.weight -= job.weight
  job.session = undefined
  tables.weigh(session)
}

export function endCompleted(turn: TurnContext, job: Job, output: CompleteCommand['output']): void {
  release(turn, job)
  job.output = output
  finish(turn, job, 'complete', COMPLETED, DIRTY_COMPLETE)
  turn.effects.total(job.lane, 'completed')
  turn.effects.event('completed', job)
  leave(turn, job, kept(turn, job).completed)
}

/** Ends a failed run. The job is retried after its backoff or `retry` ms, unless `retry` is false or it has no attempts or age left. */
export function endFailed(turn: TurnContext, job: Job, error: RunError, retry: number | false | undefined): void {
  if (job.cancelRequested) {
    endCancelled(turn, job, error)
    return
  }
  record(turn, job, error)
  noteFailure(turn, job, error)
  const { maxAttempts, maxAge, backoff } = job.policy
  const attempt = attemptOf(job)
  release(turn, job)
  const over = retry === false || attempt >= maxAttempts
  const delayMs = over ? Number.POSITIVE_INFINITY : (retry ?? backoffDelay(backoff, attempt, turn.random()))
  if (over || turn.now.wall + delayMs > job.enqueuedAt + maxAge) {
    finish(turn, job, 'exhaust', FAILED, DIRTY_OTHER)
    turn.effects.total(job.lane, 'failed')
    turn.effects.event('failed', job, undefined, error.name, error)
    leave(turn, job, kept(turn, job).failed)
  } else {
    again(turn, job, 'retry', delayMs)
    turn.effects.event('retrying', job, job.runAt, error.name, error)
  }
}

/** Ends the run of a lost worker. The attempt counts, and is retried at once or after its backoff. */
export function endLost(turn: TurnContext, job: Job): void {
  turn.effects.event('stalled', job)
  const error = { name: 'WorkerLostError', message: 'the worker that ran the job died or was silent for longer than its lease' }
  endFailed(turn, job, error, turn.settings.recovery === 'immediate' ? 0 : undefined)
}

export function endCancelled(turn: TurnContext, job: Job, error: RunError = CANCELLED_ERROR): void {
  record(turn, job, error)
  release(turn, job)
  finishCancelled(turn, job)
}

/** Cancels a job, which need not have started. `error`: the reason, if no caller asked for it. */
export function finishCancelled(turn: TurnContext, job: Job, error?: string): void {
  finish(turn, job, 'cancel', CANCELLED, DIRTY_OTHER)
  turn.effects.total(job.lane, 'cancelled')
  turn.effects.event('cancelled', job, undefined, error)
  leave(turn, job, kept(turn, job).cancelled)
}

/** Puts the job back in line without using an attempt. */
export function endGivenBack(turn: TurnContext, job: Job): void {
  if (job.cancelRequested) {
    endCancelled(turn, job)
    return
  }
  recordLogged(turn, job)
  release(turn, job)
  job.uncounted++
  again(turn, job, 'giveBack', 0)
  turn.effects.event('released', job)
}

/** Puts the job off without using an attempt. */
export function endSnoozed(turn: TurnContext, job: Job, delayMs: number): void {
  if (job.cancelRequested) {
    endCancelled(turn, job)
    return
  }
  recordLogged(turn, job)
  release(turn, job)
  job.uncounted++
  again(turn, job, 'snooze', Math.max(1, delayMs))
  turn.effects.event('snoozed', job, job.runAt)
}

/** Ends the run as its abort has decided, whatever its handler reports. */
export function endAborted(turn: TurnContext, job: Job, error?: RunError): void {
  switch (job.abort) {
    case 'cancel':
      endCancelled(turn, job, error)
      break
    case 'timeout':
      endFailed(turn, job, timeoutError(job), undefined)
      break
    default:
      endGivenBack(turn, job)
  }
}

function timeoutError(job: Job): RunError {
  return {
    name: 'JobTimeoutError',
    message: `the attempt ran past its deadline (timeout ${job.policy.timeout} ms, or a heartbeat that did not come)`,
  }
}

const CANCELLED_ERROR: RunError = { name: 'JobCancelledError', message: 'the job was cancelled while it ran' }

function finish(
  turn: TurnContext,
  job: Job,
  transition: 'complete' | 'exhaust' | 'cancel' | 'expire' | 'failByParent',
  to: 4 | 5 | 6,
  bits: number,
): void {
  job.finishedAt = turn.now.wall
  turn.effects.move(job, transition, to, bits)
  settle(turn, job)
  if (job.extras !== undefined) tellLater(turn, job)
}

/** Settles a job that has become final: frees its unique key, notifies its watchers, and lets later commands of the turn find it. */
export function settle(turn: TurnContext, job: Job): void {
  const held = exclusiveKey(job)
  if (held !== undefined) {
    turn.effects.uniqueFreed.push({ ...held, seq: job.seq })
    turn.facts.freeUnique(held.name, held.key)
  }
  if (job.extras !== undefined) endTurn(turn, job)
  if (job.extras?.schedule !== undefined) turn.tables.freed.add(job.extras.schedule)
  turn.effects.settled.push(job)
  turn.facts.add(job)
}

/** Removes a finished job at once if none is kept. If there are exports, retention removes it once they have read it. */
function leave(turn: TurnContext, job: Job, keep: Keep): void {
  if (keepsNone(keep) && turn.tables.exports.size === 0) erase(turn, job)
}

/** Removes the row of a job that is no longer in any table. */
export function erase(turn: TurnContext, job: Job): void {
  if (job.extras !== undefined) outlive(turn, job, job)
  turn.effects.count(job.lane, job.state, -1)
  turn.effects.touch(job, DIRTY_DELETE)
}

/** Fails a job that did not start within its ttl. */
export function finishExpired(turn: TurnContext, job: Job): void {
  finishUnstarted(turn, job, 'expire', { name: 'JobExpiredError', message: 'the job was not started within its ttl' })
}

/** Fails a job that never ran, because of one that it waited for. A flow's jobs share a commit: their ids differ only in the row. */
export function finishByParent(turn: TurnContext, job: Job, parent: { readonly seq: number; readonly state: string } | undefined): void {
  const which = parent && `job ${formatId({ seq: parent.seq, node: job.node, enqueuedAt: job.enqueuedAt })} is ${parent.state}`
  finishUnstarted(turn, job, 'failByParent', {
    name: 'ParentFailedError',
    message: `the job was not run, because it waited for others: ${which ?? 'one has failed'}`,
  })
}

function finishUnstarted(turn: TurnContext, job: Job, transition: 'expire' | 'failByParent', error: RunError): void {
  turn.effects.runs.push({ seq: job.seq, run: job.run, attempt: 0, startedAt: 0, endedAt: turn.now.wall, worker: '', error })
  noteFailure(turn, job, error)
  finish(turn, job, transition, FAILED, DIRTY_OTHER)
  turn.effects.total(job.lane, 'failed')
  turn.effects.event('failed', job, undefined, error.name, error)
  leave(turn, job, kept(turn, job).failed)
}

function kept({ settings }: TurnContext, { lane }: Job): Retention {
  return retentionOf(settings.retention, lane.queue.settings)
}

function again(turn: TurnContext, job: Job, transition: 'retry' | 'snooze' | 'giveBack', delayMs: number): void {
  const { tables, effects, now } = turn
  if (transition !== 'giveBack') job.runAt = now.wall + delayMs
  // A ttl applies only to the first start.
  if (transition === 'giveBack') tables.noteExpiry(job.expiresAt)
  else job.expiresAt = 0
  turn.facts.addArrival(job)
  if (delayMs > 0) {
    effects.move(job, transition, SCHEDULED)
    tables.noteDue(job.runAt)
    turn.facts.add(job)
  } else {
    effects.move(job, transition, WAITING)
    reline(turn, job)
  }
}

/**
 * Puts a job that has run back in line without its payload, which left memory when it was handed out. The job waits on disk, and
 * its lane's window is read again from there.
 */
function reline(turn: TurnContext, job: Job): void {
  enterLine(turn, job)
  turn.facts.add(job)
}

function noteFailure({ effects }: TurnContext, job: Job, error: RunError): void {
  effects.failures.push({ job, run: job.run, error: error.name, fingerprint: fingerprintOf(error) })
}

/** Records a run that used no attempt, if it has logged: without a row its log lines could not be read. */
function recordLogged(turn: TurnContext, job: Job): void {
  if (job.logLines > 0) record(turn, job, undefined)
}

function record(turn: TurnContext, job: Job, error: RunError | undefined): void {
  const worker = job.session?.intro.worker ?? job.worker
  turn.effects.runs.push({
    seq: job.seq,
    run: job.run,
    attempt: attemptOf(job),
    startedAt: job.startedAt,
    endedAt: turn.now.wall,
    worker,
    error,
  })
}

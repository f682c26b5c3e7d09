/**
 * Moves jobs to their next state: one function for each transition of `LIFECYCLE`, of the same name. A job that ran has given its
 * slot back before (end.ts). Elsewhere are `enqueue` (enqueue.ts), `start` (start.ts), `revive` (retry.ts), `reschedule`
 * (reschedule.ts), `promote` (promote.ts) and `release` (dependencies.ts).
 */
import type { CompleteCommand } from '../../commands.ts'
import { fingerprintOf } from '../../fingerprint.ts'
import { formatId } from '../../id.ts'
import { BLOCKED, CANCELLED, COMPLETED, FAILED, SCHEDULED, type Transition, WAITING } from '../../lifecycle.ts'
import { retentionOf } from '../../queueSettings.ts'
import { type Keep, keepsNone } from '../../retention.ts'
import type { RunError } from '../../runError.ts'
import { enterLine } from '../queues/line.ts'
import { DIRTY_COMPLETE, DIRTY_DELETE, DIRTY_OTHER, type Job } from '../records/job.ts'
import { setDue } from '../state/due.ts'
import type { TurnContext } from '../state/turnContext.ts'
import { onEnd, onErase } from './hooks.ts'

export function complete(turn: TurnContext, job: Job, output: CompleteCommand['output']): void {
  job.output = output
  finish(turn, job, 'complete', COMPLETED, DIRTY_COMPLETE)
  turn.effects.total(job.lane, 'completed')
  turn.effects.event('completed', job)
  leave(turn, job, keepOf(turn, job, 'completed'))
}

/** Fails a job that has no attempts or age left, or must not be tried again. */
export function exhaust(turn: TurnContext, job: Job, error: RunError): void {
  fail(turn, job, 'exhaust', error)
}

/** Fails a job that did not start within its ttl. */
export function expire(turn: TurnContext, job: Job, error: RunError): void {
  failUnstarted(turn, job, 'expire', error)
}

const NONE: Keep = { ageMs: 0, count: 0 }

/** Fails a job that never ran, because of one that it waited for. */
export function failByParent(turn: TurnContext, job: Job, parent: EndedParent | undefined): void {
  const message = `the job was not run, because it waited for others: ${whatBecameOf(job, parent) ?? 'one has failed'}`
  failUnstarted(turn, job, 'failByParent', { name: 'ParentFailedError', message })
}

/** Cancels a job that never ran, because of one that it waited for. */
export function cancelByParent(turn: TurnContext, job: Job, parent: EndedParent | undefined): void {
  turn.effects.changeExtras(job, { ...job.extras, cancel: { reason: whatBecameOf(job, parent) ?? 'a job that it waited for has failed' } })
  cancel(turn, job)
}

/** Cancels a job that was to run if others failed, and removes it at once: none has. */
export function cancelUnneeded(turn: TurnContext, job: Job): void {
  turn.effects.changeExtras(job, { ...job.extras, cancel: { reason: 'none of the jobs that it waited for has failed' } })
  cancel(turn, job, undefined, NONE)
}

/** A parent that has failed, was cancelled or deleted. */
interface EndedParent {
  readonly seq: number
  readonly state: string
}

/** A flow's jobs share a commit: their ids differ only in the row. */
function whatBecameOf({ node, enqueuedAt }: Job, parent: EndedParent | undefined): string | undefined {
  return parent && `job ${formatId({ seq: parent.seq, node, enqueuedAt })} is ${parent.state}`
}

/** Cancels a job, which need not have started. `error`: the reason, if no caller asked for it. */
export function cancel(turn: TurnContext, job: Job, error?: string, keep: Keep = keepOf(turn, job, 'cancelled')): void {
  finish(turn, job, 'cancel', CANCELLED, DIRTY_OTHER)
  turn.effects.total(job.lane, 'cancelled')
  const reason = job.extras?.cancel?.reason
  turn.effects.event('cancelled', job, undefined, error, reason === undefined ? undefined : { name: 'JobCancelledError', message: reason })
  leave(turn, job, keep)
}

/** Tries the job again after a delay. */
export function retry(turn: TurnContext, job: Job, delayMs: number, error: RunError): void {
  again(turn, job, 'retry', delayMs)
  turn.effects.event('retrying', job, job.runAt, error.name, error)
}

/** Puts the job off without using an attempt. */
export function snooze(turn: TurnContext, job: Job, delayMs: number): void {
  job.uncounted++
  again(turn, job, 'snooze', Math.max(1, delayMs))
  turn.effects.event('snoozed', job, job.runAt)
}

/** Puts the job to sleep. It has all its attempts again: the end of its wait is a result. */
export function wait(turn: TurnContext, job: Job, runAt: number): void {
  job.uncounted = job.run
  again(turn, job, 'wait', runAt - turn.now.wall)
  turn.effects.event('snoozed', job, job.runAt)
}

/** Puts the job back in line without using an attempt. */
export function giveBack(turn: TurnContext, job: Job): void {
  job.uncounted++
  again(turn, job, 'giveBack', 0)
  turn.effects.event('released', job)
}

/** Blocks a job that has created others, without using an attempt. It keeps its unique key and the turn of its concurrency key. */
export function join(turn: TurnContext, job: Job): void {
  job.uncounted++
  // A ttl applies only to the first start.
  job.expiresAt = 0
  turn.effects.move(job, 'join', BLOCKED)
  turn.effects.event('updated', job)
  turn.facts.add(job)
}

/** Settles a job that has become final: calls its hooks, notifies its watchers, and lets later commands of the turn find it. */
export function settle(turn: TurnContext, job: Job): void {
  if (job.extras !== undefined) onEnd(turn, job, job.extras)
  turn.effects.settled.push(job)
  turn.facts.add(job)
}

/** Removes the row of a job that is no longer in any table. */
export function erase(turn: TurnContext, job: Job): void {
  if (job.extras !== undefined) onErase(turn, job)
  turn.effects.countJob(job, -1)
  turn.effects.touch(job, DIRTY_DELETE)
}

export function noteFailure({ effects }: TurnContext, job: Job, error: RunError): void {
  effects.failures.push({ job, run: job.run, error: error.name, fingerprint: fingerprintOf(error) })
}

function failUnstarted(turn: TurnContext, job: Job, how: 'expire' | 'failByParent', error: RunError): void {
  turn.effects.runs.push({ seq: job.seq, run: job.run, attempt: 0, startedAt: 0, endedAt: turn.now.wall, worker: '', error })
  noteFailure(turn, job, error)
  fail(turn, job, how, error)
}

function fail(turn: TurnContext, job: Job, how: 'exhaust' | 'expire' | 'failByParent', error: RunError): void {
  finish(turn, job, how, FAILED, DIRTY_OTHER)
  turn.effects.total(job.lane, 'failed')
  turn.effects.event('failed', job, undefined, error.name, error)
  leave(turn, job, keepOf(turn, job, 'failed'))
}

function finish(turn: TurnContext, job: Job, transition: Transition, to: 4 | 5 | 6, bits: number): void {
  job.finishedAt = turn.now.wall
  turn.effects.move(job, transition, to, bits)
  settle(turn, job)
}

/** Removes a finished job at once if none is kept. If there are exports, retention removes it once they have read it. */
function leave(turn: TurnContext, job: Job, keep: Keep): void {
  if (keepsNone(keep) && turn.tables.exports.size === 0) erase(turn, job)
}

/** Returns how long a job is kept: as its own `keep` says, or else the retention of its queue. */
function keepOf({ settings }: TurnContext, { policy, lane }: Job, state: 'completed' | 'failed' | 'cancelled'): Keep {
  if (policy.keep !== undefined) return { ageMs: policy.keep, count: Number.POSITIVE_INFINITY }
  const { settings: own } = lane.queue
  return (own.retention === undefined ? settings.retention : retentionOf(settings.retention, own))[state]
}

function again(turn: TurnContext, job: Job, transition: 'retry' | 'snooze' | 'wait' | 'giveBack', delayMs: number): void {
  const { tables, effects, now } = turn
  if (transition !== 'giveBack') setDue(turn, job, now.wall + delayMs)
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

/**
 * Ends runs: a run leaves its session and its deadline, and then makes its transition. Every way to end a run goes through
 * `freeSlot`, so that a slot is given back exactly once.
 */

import { backoffDelay } from '../../backoff.ts'
import type { CompleteCommand, RunKey } from '../../commands.ts'
import { ACTIVE } from '../../lifecycle.ts'
import type { RunError } from '../../runError.ts'
import { broken } from '../records/broken.ts'
import { attemptOf, type Job } from '../records/job.ts'
import { unattachedHolderOf } from '../state/holders.ts'
import type { Sender, TurnContext } from '../state/turnContext.ts'
import { leaveDeadLetter } from './deadLetter.ts'
import * as transition from './transitions.ts'

/** The fence: returns the job if this is its current run and the sender's connection holds it, otherwise undefined. */
export function runOf({ tables }: Pick<TurnContext, 'tables'>, { seq, run }: RunKey, { connection }: Sender): Job | undefined {
  const job = tables.jobs.get(seq)
  if (job === undefined || job.state !== ACTIVE || job.run !== run) return undefined
  const holder = job.session === undefined ? unattachedHolderOf(tables, job) : job.session.holder
  return holder === connection ? job : undefined
}

function freeSlot({ tables }: TurnContext, job: Job): void {
  const { session } = job
  if (!tables.jobs.delete(job.seq)) broken(`job ${job.seq} ends, and does not run`)
  const { queue } = job.lane
  if (queue.keys !== undefined) tables.keys.ended(job)
  if (queue.suspended || queue.sharing !== undefined) tables.dispatchable.freed(queue)
  tables.clearDeadline(job)
  job.abort = undefined
  if (session === undefined) {
    for (const { jobs } of tables.unattached.values()) jobs.delete(job)
    return
  }
  session.weight -= job.weight
  if (!session.jobs.delete(job) || session.weight < 0 || (session.jobs.size === 0 && session.weight > 0))
    broken(`session ${session.id} gives job ${job.seq} back, and has ${session.jobs.size} jobs of weight ${session.weight} left`)
  job.session = undefined
  tables.weigh(session)
}

export function endCompleted(turn: TurnContext, job: Job, output: CompleteCommand['output']): void {
  freeSlot(turn, job)
  transition.complete(turn, job, output)
}

/**
 * Ends a failed run. The job is retried after its backoff or `retry` ms, and at least `leastMs`, unless `retry` is false or it has no attempts
 * or age left.
 */
export function endFailed(turn: TurnContext, job: Job, error: RunError, retry: number | false | undefined, leastMs = 0): void {
  if (job.cancelRequested) {
    endCancelled(turn, job, error)
    return
  }
  record(turn, job, error)
  transition.noteFailure(turn, job, error)
  const { maxAttempts, backoff } = job.policy
  const attempt = attemptOf(job)
  freeSlot(turn, job)
  // Its code fits again.
  if (job.extras?.steps?.changed !== undefined) turn.effects.remember(job, { changed: undefined })
  const over = retry === false || attempt >= maxAttempts
  const delayMs = over ? Number.POSITIVE_INFINITY : Math.max(leastMs, retry ?? backoffDelay(backoff, attempt, turn.random()))
  if (over || isTooOld(turn, job, delayMs)) exhaust(turn, job, error)
  else transition.retry(turn, job, delayMs, error)
}

function exhaust(turn: TurnContext, job: Job, error: RunError): void {
  transition.exhaust(turn, job, error)
  leaveDeadLetter(turn, job, error)
}

/** Ends the run of a lost worker. It is retried at once or after its backoff, and uses an attempt unless `maxLost` is set. */
export function endLost(turn: TurnContext, job: Job): void {
  turn.effects.event('stalled', job)
  if (!job.cancelRequested) turn.effects.interrupted.push(job.lane)
  const retry = turn.settings.recovery === 'immediate' ? 0 : undefined
  const { maxLost } = job.policy
  if (maxLost === undefined || job.cancelRequested) endFailed(turn, job, { name: 'WorkerLostError', message: LOST }, retry)
  else endLostUncounted(turn, job, maxLost, retry)
}

/** True if the job would be older than its `maxAge` after that delay. Its age counts from its last result. */
function isTooOld({ now }: TurnContext, { extras, enqueuedAt, policy }: Job, delayMs: number): boolean {
  return now.wall + delayMs > (extras?.steps?.since ?? enqueuedAt) + policy.maxAge
}

/** Ends the run of a lost worker that uses no attempt. Its number is stored with the job, so no crash forgets it. */
function endLostUncounted(turn: TurnContext, job: Job, maxLost: number, retry: number | undefined): void {
  const lost = (job.extras?.lost ?? 0) + 1
  const isOver = lost > maxLost
  const message = isOver ? `${LOST}: that happened to ${lost} of its runs, and maxLost allows ${maxLost}` : LOST
  const error = { name: 'WorkerLostError', message }
  record(turn, job, error)
  transition.noteFailure(turn, job, error)
  freeSlot(turn, job)
  turn.effects.changeExtras(job, { ...job.extras, lost })
  const delayMs = retry ?? backoffDelay(job.policy.backoff, lost, turn.random())
  if (isOver || isTooOld(turn, job, delayMs)) {
    exhaust(turn, job, error)
    return
  }
  job.uncounted++
  transition.retry(turn, job, delayMs, error)
}

export function endCancelled(turn: TurnContext, job: Job, error: RunError = CANCELLED_ERROR): void {
  record(turn, job, error)
  freeSlot(turn, job)
  transition.cancel(turn, job)
}

/** Puts the job back in line without using an attempt. `interrupted`: its handler had begun, and its worker stops. */
export function endGivenBack(turn: TurnContext, job: Job, interrupted = false): void {
  if (job.cancelRequested) {
    endCancelled(turn, job)
    return
  }
  if (interrupted) turn.effects.interrupted.push(job.lane)
  recordLogged(turn, job)
  freeSlot(turn, job)
  transition.giveBack(turn, job)
}

/** Puts the job off without using an attempt. */
export function endSnoozed(turn: TurnContext, job: Job, delayMs: number): void {
  if (job.cancelRequested) {
    endCancelled(turn, job)
    return
  }
  recordLogged(turn, job)
  freeSlot(turn, job)
  transition.snooze(turn, job, delayMs)
}

/** Puts the job off until code fits what it remembers, without using an attempt: longer each time. */
export function endChanged(turn: TurnContext, job: Job, error: RunError): void {
  record(turn, job, error)
  transition.noteFailure(turn, job, error)
  freeSlot(turn, job)
  const changed = (job.extras?.steps?.changed ?? 0) + 1
  turn.effects.remember(job, { changed })
  job.uncounted++
  transition.retry(turn, job, Math.min(CHANGED_DELAY_MS * 2 ** (changed - 1), CHANGED_DELAY_MAX_MS), error)
}

/** Puts the job off until its earliest wait ends, without using an attempt. */
export function endAsleep(turn: TurnContext, job: Job, runAt: number): void {
  recordLogged(turn, job)
  freeSlot(turn, job)
  transition.wait(turn, job, runAt)
}

/** Blocks the job until those that it has created have ended, without using an attempt. */
export function endJoined(turn: TurnContext, job: Job): void {
  recordLogged(turn, job)
  freeSlot(turn, job)
  transition.join(turn, job)
}

/** The report of an aborted run: its error, or that its worker has interrupted it. */
interface Reported {
  readonly error?: RunError
  readonly interrupted?: boolean
}

/** Ends the run as its abort has decided, whatever its handler reports. Without an abort it is given back. */
export function endAborted(turn: TurnContext, job: Job, { error, interrupted }: Reported = {}): void {
  switch (job.abort) {
    case 'cancel':
      endCancelled(turn, job, error)
      break
    case 'timeout':
      endFailed(turn, job, timeoutError(job), undefined)
      break
    default:
      endGivenBack(turn, job, interrupted)
  }
}

function timeoutError(job: Job): RunError {
  return {
    name: 'JobTimeoutError',
    message: `the attempt ran past its deadline (timeout ${job.policy.timeout} ms, or a heartbeat that did not come)`,
  }
}

/** The delay after the first run whose code did not fit, and the longest one. */
const CHANGED_DELAY_MS = 10_000
const CHANGED_DELAY_MAX_MS = 3_600_000

const LOST = 'the worker that ran the job died or was silent for longer than its lease'

const CANCELLED_ERROR: RunError = { name: 'JobCancelledError', message: 'the job was cancelled while it ran' }

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

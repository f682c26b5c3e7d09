/** Runs a handler once and reports how the run ended: the one place that distinguishes outcomes. */
import {
  type BackoffFunction,
  decodeData,
  describe,
  encodeData,
  type FailCommand,
  type Grant,
  handlerErrorOf,
  isError,
  isErrorOf,
  isThenable,
  LIMITS,
  NonRetryableError,
  parseDuration,
  type RetryAfterError,
  RunSuspended,
} from '@millrace/core'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { RunContext } from './context.ts'
import { isHopeless } from './hopeless.ts'
import { JoinSignal } from './join.ts'
import { runErrorOf } from './runError.ts'
import { checkSchema } from './schema.ts'
import type { Settlement } from './settlement.ts'
import { SnoozeSignal } from './snoozeSignal.ts'
import { WaitSignal } from './steps/waitSignal.ts'

/** The parts of a definition that affect how a run ends. */
export interface Ending {
  readonly schema: StandardSchemaV1 | undefined
  readonly backoff: BackoffFunction | undefined
}

export interface Runnable extends Ending {
  /** Runs the handler on this thread: returns the output, or throws. */
  run?(context: RunContext): unknown
  /**
   * Runs the handler in another thread, or for many jobs at once, and resolves to how the run ended. `checked` is the
   * data as its schema returned it.
   */
  settle?(context: RunContext, checked: { readonly data: unknown } | undefined): Promise<Settlement>
}

/**
 * Calls `settled` exactly once, and synchronously if nothing of the run is asynchronous. `given` is data that was decoded
 * and checked elsewhere.
 */
export function execute(
  runnable: Runnable,
  context: RunContext,
  maxDataBytes: number,
  settled: (settlement: Settlement) => void,
  given?: { readonly data: unknown },
): void {
  let output: unknown
  context.settled = settled
  const failed = (error: unknown) => context.settled(threw(runnable, context, error))
  context.failed = failed
  try {
    if (runnable.settle !== undefined) {
      elsewhere(runnable, context).then((settlement) => context.settled(settlement), failed)
      return
    }
    const data = given === undefined ? payloadOf(runnable, context.grant) : given.data
    output = data instanceof Promise ? data.then((checked) => start(runnable, context, checked)) : start(runnable, context, data)
    if (output instanceof Promise || isThenable(output)) {
      // A thenable may call back twice, or throw. A promise of it does neither.
      Promise.resolve(output).then((value) => context.settled(returned(runnable, context, value, maxDataBytes)), failed)
      return
    }
  } catch (error) {
    failed(error)
    return
  }
  context.settled(returned(runnable, context, output, maxDataBytes))
}

function start(runnable: Runnable, context: RunContext, data: unknown): unknown {
  context.payload = data
  return runnable.run?.(context)
}

/** Runs the handler elsewhere. Another thread decodes the data itself, unless a schema here has to see it first. */
async function elsewhere(runnable: Runnable, context: RunContext): Promise<Settlement> {
  const checked = runnable.schema === undefined ? undefined : { data: await payloadOf(runnable, context.grant) }
  if (checked !== undefined) context.payload = checked.data
  const settlement = await (runnable.settle as NonNullable<Runnable['settle']>)(context, checked)
  if (settlement.op === 'asleep') context.suspend(new RunSuspended('the job sleeps'))
  const { backoff } = runnable
  if (backoff === undefined || settlement.op !== 'fail' || settlement.retry !== undefined) return settlement
  const retry = askBackoff(backoff, context, handlerErrorOf(settlement.error))
  return retry === undefined ? settlement : { ...settlement, retry }
}

/** Returns the data for the handler. An error here would repeat itself, so there is no retry. */
export function payloadOf({ schema }: Ending, { name, data, checkpoint }: Grant): unknown {
  const value = decodeStored('data', data)
  // Decoded here too: a handler that never looks at a broken checkpoint would start from the beginning.
  if (checkpoint !== null) decodeStored('checkpoint', checkpoint)
  return schema === undefined ? value : checkSchema(schema, name, value)
}

function decodeStored(what: string, stored: Grant['data']): unknown {
  try {
    return decodeData(stored)
  } catch (error) {
    const reason = isError(error) ? error.message : String(error)
    throw new NonRetryableError(`the stored ${what} of the job is not JSON: ${reason}`, { cause: error })
  }
}

export function returned(ending: Ending, context: RunContext, output: unknown, maxDataBytes: number): Settlement {
  if (context.ending !== undefined) return threw(ending, context, context.ending)
  const { seq, run } = context.grant
  if (context.joining !== undefined) return threw(ending, context, notAwaited(context.joining))
  // The return value of a handler that was asked to stop may be half of its work: the job runs again.
  const { aborted } = context
  if (aborted !== undefined && isErrorOf(aborted, 'WorkerStoppedError')) return { op: 'giveBack', seq, run, started: true }
  try {
    const { enqueues } = context
    const data = encodeData('output', output, maxDataBytes)
    return enqueues === undefined ? { op: 'complete', seq, run, output: data } : { op: 'complete', seq, run, output: data, enqueues }
  } catch (error) {
    return { op: 'fail', seq, run, error: runErrorOf(error), retry: false }
  }
}

export function threw({ backoff }: Ending, context: RunContext, thrown: unknown): Settlement {
  const { seq, run } = context.grant
  // The handler's request counts, even if its own code caught the signal.
  const error = context.ending ?? thrown
  if (error instanceof SnoozeSignal) {
    const { delayMs: delay, pause } = error
    return { op: 'snooze', seq, run, delay, ...(pause !== undefined && { pause }) }
  }
  if (error instanceof JoinSignal) return { op: 'join', seq, run, name: error.group, jobs: error.jobs }
  if (error instanceof WaitSignal) return { op: 'asleep', seq, run }
  // An engine that does not know `cancel` fails the job permanently.
  if (isCancel(error)) return { op: 'fail', seq, run, error: runErrorOf(error), retry: false, cancel: true }
  if ([context.ending, context.aborted].some((each) => isErrorOf(each, 'WorkerStoppedError')))
    return { op: 'giveBack', seq, run, started: true }
  if (isErrorOf(context.ending, 'StepsChangedError')) return { op: 'fail', seq, run, error: runErrorOf(error), changed: true }
  const shown = context.ending !== undefined && isError(context.ending.cause) ? context.ending.cause : error
  const failure: FailCommand = { op: 'fail', seq, run, error: runErrorOf(shown) }
  const told = retryOf(error)
  if (told !== undefined) return { ...failure, ...told }
  const retry = backoff === undefined ? undefined : askBackoff(backoff, context, error)
  return retry === undefined ? failure : { ...failure, retry }
}

function notAwaited(name: string): NonRetryableError {
  return new NonRetryableError(`the handler has returned before its join of '${name}' was ready: await context.join(...)`)
}

/**
 * Returns what the error itself says about another attempt: never, a delay in milliseconds, or nothing. An error that
 * cannot be read says nothing.
 */
function retryOf(error: unknown): Pick<FailCommand, 'retry' | 'atLeast'> | undefined {
  try {
    if (isHopeless(error)) return { retry: false }
    const retry = isErrorOf(error, 'RetryAfterError') ? wholeDelay(error.delay) : undefined
    if (retry === undefined) return undefined
    return (error as RetryAfterError).atLeast === true ? { retry, atLeast: true } : { retry }
  } catch {
    return undefined
  }
}

/** True if the handler cancels its job. An error that cannot be read does not. */
function isCancel(error: unknown): boolean {
  try {
    return isErrorOf(error, 'CancelJobError')
  } catch {
    return false
  }
}

/** Calls the backoff function. If it throws, or returns no valid duration, the stored backoff is used and a complaint reported. */
function askBackoff(backoff: BackoffFunction, context: RunContext, error: unknown): number | false | undefined {
  try {
    // Without a schema, a pool's thread has decoded the data for itself.
    const data = context.data ?? decodeData(context.grant.data)
    const answer: unknown = backoff(context.attempt, error, { data, job: context.job })
    if (answer === undefined || answer === false) return answer
    const delay = wholeDelay(parseDuration(answer))
    if (delay === undefined) context.complain('backoff', `the backoff function ${wrongAnswer(answer)}: the stored backoff is used`)
    return delay
  } catch (thrown) {
    context.complain('backoff', `the backoff function has thrown ${runErrorOf(thrown).name}: the stored backoff is used`)
    return undefined
  }
}

function wrongAnswer(answer: unknown): string {
  if (isThenable(answer)) {
    Promise.resolve(answer).catch(() => {})
    return 'answered a promise, and must answer at once'
  }
  const allowed = "a duration of 0 or more (milliseconds, '5m' or { minutes: 5 }), false to end the retries, or undefined"
  return `answered ${describe(answer)}, and must answer ${allowed}`
}

/** Returns whole milliseconds, as rows hold them; undefined if they are no valid duration. */
function wholeDelay(ms: unknown): number | undefined {
  return typeof ms === 'number' && ms >= 0 && ms <= LIMITS.durationMs ? Math.ceil(ms) : undefined
}

/** Runs a handler once, and says how the run ended: the one place where outcomes are told apart. */
import {
  type BackoffFunction,
  type CompleteCommand,
  decodeData,
  encodeData,
  type FailCommand,
  type GiveBackCommand,
  type Grant,
  LIMITS,
  NonRetryableError,
  OptionRangeError,
  OptionTypeError,
  parseDuration,
  RetryAfterError,
  type SnoozeCommand,
  ValidationError,
  WorkerStoppedError,
} from '@millrace/core'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type RunContext, SnoozeSignal } from './context.ts'
import { runErrorOf } from './runError.ts'
import { checkSchema } from './schema.ts'

export type Settlement = CompleteCommand | FailCommand | SnoozeCommand | GiveBackCommand

export interface Runnable {
  readonly schema: StandardSchemaV1 | undefined
  readonly backoff: BackoffFunction | undefined
  /** On this thread: returns the output, or throws. */
  run?(context: RunContext): unknown
  /** In another one: answers how the run ended there. `checked` is the data as the schema has made it. */
  settle?(context: RunContext, checked: { readonly data: unknown } | undefined): Promise<Settlement>
}

/**
 * Calls `settled` exactly once, at once where nothing of the run is asynchronous. `given` is data that was decoded and checked
 * elsewhere.
 */
export function execute(
  runnable: Runnable,
  context: RunContext,
  maxDataBytes: number,
  settled: (settlement: Settlement) => void,
  given?: { readonly data: unknown },
): void {
  const done = (output: unknown) => settled(returned(runnable, context, output, maxDataBytes))
  const failed = (error: unknown) => settled(threw(runnable, context, error))
  let result: unknown
  try {
    if (runnable.settle !== undefined) {
      elsewhere(runnable, context).then(settled, failed)
      return
    }
    const data = given === undefined ? payloadOf(runnable, context.grant) : given.data
    if (data instanceof Promise) {
      data.then((value) => start(runnable, context, value)).then(done, failed)
      return
    }
    result = start(runnable, context, data)
  } catch (error) {
    failed(error)
    return
  }
  if (isThenable(result)) result.then(done, failed)
  else done(result)
}

function start(runnable: Runnable, context: RunContext, data: unknown): unknown {
  context.payload = data
  return runnable.run?.(context)
}

/** In another thread, which decodes the data itself unless a schema here has to see it first. */
async function elsewhere(runnable: Runnable, context: RunContext): Promise<Settlement> {
  const checked = runnable.schema === undefined ? undefined : { data: await payloadOf(runnable, context.grant) }
  const settlement = await (runnable.settle as NonNullable<Runnable['settle']>)(context, checked)
  const { backoff } = runnable
  if (backoff === undefined || settlement.op !== 'fail' || settlement.retry !== undefined) return settlement
  return {
    ...settlement,
    ...askBackoff(backoff, context.grant.attempt, Object.assign(new Error(settlement.error.message), { name: settlement.error.name })),
  }
}

/** The data that the handler is to get. What fails here fails again: no retry. */
function payloadOf({ schema }: Runnable, { name, data }: Grant): unknown {
  let value: unknown
  try {
    value = decodeData(data)
  } catch (error) {
    throw new NonRetryableError(`the stored data of the job is no JSON: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
  return schema === undefined ? value : checkSchema(schema, name, value)
}

function returned(runnable: Runnable, context: RunContext, output: unknown, maxDataBytes: number): Settlement {
  if (context.ending !== undefined) return threw(runnable, context, context.ending)
  const { seq, run } = context.grant
  // What a handler returns after it was told to stop may be half of its work: it is run again.
  if (context.aborted instanceof WorkerStoppedError) return { op: 'giveBack', seq, run }
  try {
    const { enqueues } = context
    return { op: 'complete', seq, run, output: encodeData('output', output, maxDataBytes), ...(enqueues !== undefined && { enqueues }) }
  } catch (error) {
    return { op: 'fail', seq, run, error: runErrorOf(error), retry: false }
  }
}

function threw({ backoff }: Runnable, context: RunContext, thrown: unknown): Settlement {
  const { seq, run, attempt } = context.grant
  // What the handler asked for counts, even where its own code caught the signal.
  const error = context.ending ?? thrown
  if (error instanceof SnoozeSignal) return { op: 'snooze', seq, run, delay: error.delayMs }
  if (context.aborted instanceof WorkerStoppedError) return { op: 'giveBack', seq, run }
  const told = error instanceof NonRetryableError && error.cause instanceof Error && context.ending === error ? error.cause : error
  const failure: FailCommand = { op: 'fail', seq, run, error: runErrorOf(told) }
  if (isHopeless(error)) return { ...failure, retry: false }
  if (error instanceof RetryAfterError) return { ...failure, retry: error.delay }
  if (backoff === undefined) return failure
  return { ...failure, ...askBackoff(backoff, attempt, error) }
}

/** By name too: an error thrown in another thread, or by a second copy of this package, is of another class. */
function isHopeless(error: unknown): boolean {
  if (error instanceof ValidationError || error instanceof NonRetryableError) return true
  if (error instanceof OptionTypeError || error instanceof OptionRangeError) return error.option === 'data' || error.option === 'output'
  return error instanceof Error && error.name === 'NonRetryableError'
}

/** A function that throws, or answers no duration, leaves the job to its stored backoff. */
function askBackoff(backoff: BackoffFunction, attempt: number, error: unknown): { retry?: number } {
  try {
    const delayMs = parseDuration(backoff(attempt, error))
    return delayMs !== undefined && delayMs >= 0 && delayMs <= LIMITS.durationMs ? { retry: Math.ceil(delayMs) } : {}
  } catch {
    return {}
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

/** A handler that takes many jobs at once, and returns an outcome for each. */
import {
  checkKnown,
  choiceOption,
  DEFAULT_POLICY,
  type Duration,
  durationOption,
  formatDuration,
  integerOption,
  LIMITS,
  OptionRangeError,
  type PausePart,
} from '@millrace/core'
import type { Context } from '../handlerContext.ts'
import type { HandlerType } from '../jobType.ts'

/** The number of jobs of one call, and the time that it waits for them. */
export interface BatchOptions {
  /** The maximum number of jobs per call: 1 to 10,000, and at most the worker's `minConcurrency`. */
  readonly size: number
  /** The time that the first job waits for others; default 1 s. It counts in the job's `timeout`, and must be less than that. */
  readonly maxWait?: Duration
  /**
   * `concurrencyKey`: all jobs of a call have the same concurrency key, or none of them has one; each key has its own `size` and `maxWait`.
   * Default: jobs of all keys together.
   */
  readonly groupBy?: 'concurrencyKey'
}

/** The options of a handler that takes many jobs at once. */
export interface BatchHandlerOptions {
  /** The number of jobs that the handler takes at once, and the time that it waits for them. */
  readonly batch: BatchOptions
}

/** One job of a batch: the context of a single job, without durable calls and methods that end the handler. `signal` is its own. */
export type BatchItem<Data = unknown> = Omit<
  Context<Data>,
  'snooze' | 'join' | 'step' | 'sleep' | 'waitFor' | 'changed' | 'discard' | 'cancel'
>

/** The context of a call as a whole, beside those of its jobs. */
export interface BatchContext {
  /** Aborts once no job of the batch is left to work for; the reason is the last job's. */
  readonly signal: AbortSignal
}

/** The outcome of one job: exactly one of the three. */
export type BatchOutcome<Output = unknown> =
  | { readonly output: Output }
  /** Ends the run as if a handler had thrown it: `NonRetryableError` and `RetryAfterError` have their usual meaning. */
  | { readonly error: unknown }
  /** Runs the job again later, without using an attempt. */
  | { readonly snooze: Duration; readonly pause?: PausePart }

/** Returns as many outcomes as there are items, in their order. An error that it throws is the outcome of all of them. */
export type BatchFunction<Data, Output = unknown> = (
  items: readonly BatchItem<Data>[],
  context: BatchContext,
) => readonly BatchOutcome<Output>[] | Promise<readonly BatchOutcome<Output>[]>

export interface BatchSettings {
  readonly size: number
  readonly maxWaitMs: number
  readonly groupBy: BatchOptions['groupBy']
}

export interface BatchHandler<Input = unknown, Output = unknown> {
  readonly kind: 'batch'
  readonly definition: HandlerType<Input, Output>
  readonly settings: BatchSettings
  readonly run: BatchFunction<never>
}

const KNOWN = new Set(['batch'])
const BATCH_KNOWN = new Set(['size', 'maxWait', 'groupBy'])
const MAX_WAIT_MS = 1_000

/** @throws OptionTypeError, OptionRangeError */
export function batchHandler(definition: HandlerType, run: BatchFunction<never>, options: unknown): BatchHandler {
  checkKnown('handler', options, KNOWN)
  const { batch } = options
  checkKnown('batch', batch, BATCH_KNOWN)
  const size = integerOption('batch.size', batch['size'], 1, LIMITS.jobsPerCommand)
  const maxWaitMs = batch['maxWait'] === undefined ? MAX_WAIT_MS : durationOption('batch.maxWait', batch['maxWait'])
  const groupBy = batch['groupBy'] === undefined ? undefined : choiceOption('batch.groupBy', batch['groupBy'], ['concurrencyKey'] as const)
  const { timeout = DEFAULT_POLICY.timeout } = definition.defaults
  if (maxWaitMs >= timeout) {
    throw new OptionRangeError(
      'batch.maxWait',
      timeout,
      `batch.maxWait (${formatDuration(maxWaitMs)}) must be less than the timeout of job '${definition.name}' (${formatDuration(timeout)}), in which it counts: lower one or raise the other`,
    )
  }
  return { kind: 'batch', definition, settings: { size, maxWaitMs, groupBy }, run }
}

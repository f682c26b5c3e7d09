/** Job definitions: a job's name, its options and the types of its payload. They hold no engine: producers import them. */
import {
  type BackoffFunction,
  type DefinitionOptions as BaseOptions,
  type EnqueueOptions,
  OptionTypeError,
  type ProcessOptions,
  type ThreadOptions,
  validateDefinition,
} from '@millrace/core'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type BatchFunction, type BatchHandler, type BatchHandlerOptions, batchHandler } from './batch/handler.ts'
import type { Context } from './handlerContext.ts'
import type { EnqueueArguments, HandlerType, JobRequest, JobType, Stored } from './jobType.ts'
import { type ProcessHandler, processHandler, type ThreadHandler, threadHandler } from './pools/handler.ts'

/** The options of `defineJob`. */
export interface DefinitionOptions<Schema extends StandardSchemaV1 | undefined> extends BaseOptions {
  /** Any Standard Schema: data is checked at enqueue and before the run. Default none. */
  readonly schema?: Schema
}

/** A job that `defineJob` has defined: enqueue it, or give it a handler. */
export interface Definition<Input = unknown, Output = unknown, Data = Stored<Input>, Messages = unknown>
  extends JobType<Input, Output, Messages> {
  readonly schema: StandardSchemaV1<Input, Data> | undefined
  readonly backoff: BackoffFunction | undefined
  /** Returns one job for `enqueueMany`, `flow` or `batch`, with type-checked data: `{ job, data, options }`. */
  job(...[data, options]: EnqueueArguments<Input>): JobRequest<JobType<Input, Output>>
  /** Returns the same definition with the type of its output: for definitions with a `schema`, whose types are inferred. */
  returns<Result>(): Definition<Input, Result, Data, Messages>
  /** Returns the same definition with the types of the messages that its jobs take: `messages<{ approved: { by: string } }>()`. */
  messages<Types extends object>(): Definition<Input, Output, Data, Types>
  /** Creates a handler on this thread. Its return value is the job's output. */
  handler<Result extends Output>(run: HandlerFunction<Data, Result, Messages>): InlineHandler<Input, Result>
  /** Creates a handler on this thread that takes many jobs at once: `{ batch: { size, maxWait } }`. */
  handler(run: BatchFunction<Data, Output>, options: BatchHandlerOptions): BatchHandler<Input, Output>
  /** Creates a handler that is a module, run on a pool of threads. */
  thread(url: URL | string, options?: ThreadOptions): ThreadHandler<Input, Output>
  /** Creates a handler that is a module, run by a pool of child processes: a crash or a full heap ends no other run. */
  childProcess(url: URL | string, options?: ProcessOptions): ProcessHandler<Input, Output>
}

/** A function that runs a job. Its return value is the output of the job. */
export type HandlerFunction<Data, Output, Messages = unknown> = (context: Context<Data, Messages>) => Output | Promise<Output>

/** The function of a handler, for a handler in a module of its own: `HandlerOf<typeof resize>`. */
export type HandlerOf<Job extends JobType> =
  Job extends Definition<infer _Input, infer Output, infer Data, infer Messages>
    ? HandlerFunction<Data, Output, Messages>
    : HandlerFunction<unknown, unknown>

export interface InlineHandler<Input = unknown, Output = unknown> {
  readonly kind: 'inline'
  readonly definition: HandlerType<Input, Output>
  readonly run: HandlerFunction<never, unknown>
}

/** A handler that `work` takes. */
export type Handler = InlineHandler | BatchHandler | ThreadHandler | ProcessHandler

/**
 * Defines a job: `defineJob<Input, Output>({ name })`, or with a `schema`, which gives the type of its data.
 *
 * @example
 * ```ts
 * const sendMail = defineJob<{ to: string }>({ name: 'send-mail', maxAttempts: 5, timeout: '1m' })
 * ```
 * @throws OptionTypeError, OptionRangeError for a wrong option
 */
export function defineJob<Schema extends StandardSchemaV1>(
  options: DefinitionOptions<Schema> & { readonly schema: Schema },
): Definition<StandardSchemaV1.InferInput<Schema>, unknown, StandardSchemaV1.InferOutput<Schema>>
export function defineJob<Input = unknown, Output = unknown>(options: DefinitionOptions<undefined>): Definition<Input, Output>
export function defineJob(value: DefinitionOptions<StandardSchemaV1 | undefined>): Definition {
  const { name, defaults, backoff } = validateDefinition(value)
  const definition: Definition = {
    name,
    defaults,
    backoff,
    schema: value.schema,
    job: (data?: unknown, options?: EnqueueOptions) => ({
      job: definition,
      ...(data !== undefined && { data }),
      ...(options !== undefined && { options }),
    }),
    returns: <Result>() => definition as Definition<unknown, Result>,
    messages: <Types extends object>() => definition as Definition<unknown, unknown, unknown, Types>,
    handler,
    thread: (url, options) => threadHandler(definition, url, options),
    childProcess: (url, options) => processHandler(definition, url, options),
  }
  function handler(run: HandlerFunction<never, unknown>): InlineHandler
  function handler(run: BatchFunction<never>, options: BatchHandlerOptions): BatchHandler
  function handler(run: unknown, options?: BatchHandlerOptions): InlineHandler | BatchHandler {
    if (typeof run !== 'function')
      throw new OptionTypeError('handler', `the handler of job '${name}' must be a function, got a ${typeof run}`)
    if (options !== undefined) return batchHandler(definition, run as BatchFunction<never>, options)
    return { kind: 'inline', definition, run: run as HandlerFunction<never, unknown> }
  }
  return Object.freeze(definition)
}

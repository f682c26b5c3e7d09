/** Job definitions: what a job is called, how it is run, and what its payload is. They hold no engine: producers import them. */
import {
  type BackoffFunction,
  type DefinitionOptions as BaseOptions,
  type Defaults,
  type EnqueueOptions,
  OptionTypeError,
  type ThreadOptions,
  validateDefinition,
} from '@millrace/core'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type BatchFunction, type BatchHandler, type BatchHandlerOptions, batchHandler } from './batch/handler.ts'
import type { Context } from './context.ts'
import { type ThreadHandler, threadHandler } from './threads/handler.ts'

export interface DefinitionOptions<Schema extends StandardSchemaV1 | undefined> extends BaseOptions {
  /** Any Standard Schema: checked at enqueue and before the run. */
  readonly schema?: Schema
}

/** A definition as producers need it: whatever its handlers get. */
export interface JobType<Input = unknown> {
  readonly name: string
  readonly defaults: Defaults
  readonly schema: StandardSchemaV1<Input, unknown> | undefined
}

/** What follows the job in an enqueue: the data may be left out only where its type allows it. */
export type EnqueueArguments<Input> = undefined extends Input
  ? [data?: NoInfer<Input>, options?: EnqueueOptions]
  : [data: NoInfer<Input>, options?: EnqueueOptions]

export interface Definition<Input = unknown, Data = Input> extends JobType<Input> {
  readonly schema: StandardSchemaV1<Input, Data> | undefined
  readonly backoff: BackoffFunction | undefined
  /** A handler on this thread. What it returns is the job's output. */
  handler<Output>(run: HandlerFunction<Data, Output>): InlineHandler
  /** A handler on this thread that takes many jobs at once: `{ batch: { size, maxWait } }`. */
  handler(run: BatchFunction<Data>, options: BatchHandlerOptions): BatchHandler
  /** A handler that is a module, run on a pool of threads. */
  thread(url: URL | string, options?: ThreadOptions): ThreadHandler
}

export type HandlerFunction<Data, Output> = (context: Context<Data>) => Output | Promise<Output>

export interface InlineHandler {
  readonly kind: 'inline'
  readonly definition: JobType & Pick<Definition, 'backoff'>
  readonly run: HandlerFunction<never, unknown>
}

export type Handler = InlineHandler | BatchHandler | ThreadHandler

/**
 * Defines a job.
 *
 * @throws OptionTypeError, OptionRangeError for a wrong option
 */
export function defineJob<Schema extends StandardSchemaV1>(
  options: DefinitionOptions<Schema> & { readonly schema: Schema },
): Definition<StandardSchemaV1.InferInput<Schema>, StandardSchemaV1.InferOutput<Schema>>
export function defineJob<Data = unknown>(options: DefinitionOptions<undefined>): Definition<Data>
export function defineJob(value: DefinitionOptions<StandardSchemaV1 | undefined>): Definition {
  const { name, defaults, backoff } = validateDefinition(value)
  const definition: Definition = {
    name,
    defaults,
    backoff,
    schema: value.schema,
    handler,
    thread: (url, options) => threadHandler(definition, url, options),
  }
  function handler(run: HandlerFunction<never, unknown>): InlineHandler
  function handler(run: BatchFunction<never>, options: BatchHandlerOptions): BatchHandler
  function handler(run: unknown, options?: BatchHandlerOptions): InlineHandler | BatchHandler {
    if (typeof run !== 'function') throw new OptionTypeError('handler', `the handler of job '${name}' is a function, not a ${typeof run}`)
    if (options !== undefined) return batchHandler(definition, run as BatchFunction<never>, options)
    return { kind: 'inline', definition, run: run as HandlerFunction<never, unknown> }
  }
  return Object.freeze(definition)
}

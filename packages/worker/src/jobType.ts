/** The types that flow from a definition to all of its users. */
import type { BackoffFunction, Defaults, EnqueueOptions } from '@millrace/core'
import type { StandardSchemaV1 } from '@standard-schema/spec'

/** A definition as producers need it, without its handlers. */
export interface JobType<Input = unknown, Output = unknown, Messages = unknown> {
  readonly name: string
  readonly defaults: Defaults
  readonly schema: StandardSchemaV1<Input, unknown> | undefined
  /** Exists only for the compiler: it carries the types. */
  readonly '~types'?: { readonly input: Input; readonly output: Output; readonly messages?: Messages }
}

/** A definition as its handlers hold it. */
export type HandlerType<Input = unknown, Output = unknown> = JobType<Input, Output> & { readonly backoff: BackoffFunction | undefined }

/** A definition, or the name of a job. A name alone carries no types. */
export type JobOrName = JobType | string

/** A handler carries the types of its definition too. */
interface OfJob {
  readonly definition: JobType
}

/** The data that a job takes when it is enqueued: `InputOf<typeof resize>`. */
export type InputOf<Job> = Job extends JobType
  ? NonNullable<Job['~types']>['input']
  : Job extends OfJob
    ? NonNullable<Job['definition']['~types']>['input']
    : unknown

/** The output of a job as it is read back: `OutputOf<typeof resize>`, of a definition or of a handler. */
export type OutputOf<Job> = Job extends JobType
  ? Stored<NonNullable<Job['~types']>['output']>
  : Job extends OfJob
    ? Stored<NonNullable<Job['definition']['~types']>['output']>
    : unknown

/** The messages that a job takes, by their names: `MessagesOf<typeof order>`. Unknown for a job that has declared none. */
export type MessagesOf<Job> = Job extends JobType ? DeclaredBy<Job> : Job extends OfJob ? DeclaredBy<Job['definition']> : unknown

type DeclaredBy<Job extends JobType> = NonNullable<Job['~types']> extends { readonly messages?: infer Messages } ? Messages : unknown

/** The names of messages: any string, unless the job has declared them. */
export type MessageName<Messages> = unknown extends Messages ? string : keyof Messages & string

/** The data of the message with that name. */
export type MessageData<Messages, Name> = unknown extends Messages ? unknown : Name extends keyof Messages ? Messages[Name] : never

/**
 * A value as it is read back. Bytes come back as a `Uint8Array`. JSON carries all else: a `Date` comes back as a string, and functions
 * within an object are left out.
 */
export type Stored<Value> = unknown extends Value ? Value : Value extends ArrayBuffer | ArrayBufferView ? Uint8Array : FromJson<Value>

type FromJson<Value> = unknown extends Value
  ? Value
  : // biome-ignore lint/suspicious/noConfusingVoidType: a handler that returns nothing has the output void
    Value extends string | number | boolean | null | undefined | void
    ? Value
    : Value extends { toJSON(key: string): infer Json }
      ? FromJson<Json>
      : Value extends readonly unknown[]
        ? { [Index in keyof Value]: FromJson<Value[Index]> }
        : Value extends object
          ? { [Key in keyof Value as Value[Key] extends AnyFunction ? never : Key]: FromJson<Value[Key]> }
          : never

type AnyFunction = (...args: never) => unknown

/** The arguments that follow the job in an enqueue. The data can be left out only if its type allows `undefined`. */
export type EnqueueArguments<Input> = undefined extends Input
  ? [data?: NoInfer<Input>, options?: EnqueueOptions]
  : [data: NoInfer<Input>, options?: EnqueueOptions]

/** The data of a job among its other fields. It can be left out only if its type allows `undefined`. */
export type DataField<Input> = undefined extends Input ? { readonly data?: Input } : { readonly data: Input }

/**
 * One job of `enqueueMany`, `flow` or `batch`: `{ job, data, options }`. `definition.job(data, options)` makes one. `JobRequest` alone is
 * a job of any definition, whose data the compiler does not check.
 */
export type JobRequest<Job extends JobOrName = JobOrName> = JobOrName extends Job
  ? AnyJobRequest
  : Job extends unknown
    ? { readonly job: Job; readonly options?: EnqueueOptions } & DataField<InputOf<Job>>
    : never

interface AnyJobRequest {
  readonly job: JobOrName
  readonly data?: unknown
  readonly options?: EnqueueOptions
}

/** Enqueues jobs by SQL, in a transaction on the Postgres that the queue is in too. */
import { type InboxEntry, inboxEntryOf, newJobOf } from '@millrace/client'
import { DEFAULT_SCHEMA, type EnqueueOptions, LIMITS, OptionTypeError, schemaOption } from '@millrace/core'
import type { EnqueueArguments, JobType } from '@millrace/worker'

/** A statement for any driver of Postgres. It returns the id of the job as `id`. */
export interface EnqueueQuery {
  readonly text: string
  /** The name, the data and the options, as JSON. */
  readonly values: InboxEntry
}

/**
 * Returns a function that builds the `enqueue` statement for a schema; default `millrace`. The job is in the queue soon after the transaction commits,
 * and never if it rolls back.
 *
 * @example
 * ```ts
 * const enqueue = enqueueBySql()
 * await client.query(enqueue(receipt, { order: 7 }))
 * ```
 * @throws OptionTypeError for a wrong schema; the returned function throws OptionTypeError, OptionRangeError, ValidationError, and refuses
 * bytes, which JSON cannot hold, and schemas of data that are asynchronous
 */
export function enqueueBySql(schema = DEFAULT_SCHEMA) {
  // Some drivers would encode a jsonb parameter a second time.
  const text = `SELECT "${schemaOption('schema', schema)}".enqueue($1, $2::text::jsonb, $3::text::jsonb) AS id`
  return <Input>(job: JobType<Input> | string, ...[data, options]: EnqueueArguments<Input>): EnqueueQuery => {
    const made = newJobOf(job as JobType | string, data, options as EnqueueOptions | undefined, LIMITS.dataBytes)
    if (made instanceof Promise) {
      made.catch(() => {})
      throw new OptionTypeError('schema', `the schema of job '${(job as JobType).name}' is asynchronous: await engine.enqueue instead`)
    }
    return { text, values: inboxEntryOf(made) }
  }
}

/** Jobs as the function `enqueue` of a schema of Postgres takes them. */
import { type NewJob, OptionTypeError } from '@millrace/core'

/** The arguments of the function: the name, the data and the options, as JSON. */
export type InboxEntry = [name: string, data: string | null, options: string]

/** @throws OptionTypeError if the data is bytes, which JSON cannot hold */
export function inboxEntryOf({ name, data, meta, weak: _, ...options }: NewJob & { readonly weak?: boolean }): InboxEntry {
  if (data instanceof Uint8Array)
    throw new OptionTypeError('data', 'data must be JSON to be enqueued by SQL, got bytes: encode them as base64, or await engine.enqueue')
  return [name, data, JSON.stringify({ ...options, ...(meta !== undefined && { meta: JSON.parse(meta) }) })]
}

/** `node:diagnostics_channel`, for tracing: what this process enqueues. Without subscribers nothing is made. */
import { channel } from 'node:diagnostics_channel'
import { type Enqueued, formatId, type NewJob } from '@millrace/core'

/** On `millrace:enqueued`, once it is committed (or, with a journal, synced there). */
export interface JobEnqueued {
  readonly jobId: string
  readonly name: string
  /** Undefined: the definition's, or the engine's default. */
  readonly queue: string | undefined
  /** False where a key matched an earlier job, which this then is. */
  readonly created: boolean
}

const ENQUEUED = channel('millrace:enqueued')

/** The jobs with their keys, in the same order. */
export function tellEnqueued(jobs: readonly NewJob[], keys: readonly Enqueued[]): void {
  if (!ENQUEUED.hasSubscribers) return
  for (const [index, key] of keys.entries()) {
    const { name, queue } = jobs[index] as NewJob
    const enqueued: JobEnqueued = { jobId: formatId(key), name, queue, created: key.created }
    ENQUEUED.publish(enqueued)
  }
}

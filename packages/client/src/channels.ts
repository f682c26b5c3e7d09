/**
 * Publishes the jobs that this process enqueues on `node:diagnostics_channel`, for tracing. Without subscribers, no
 * object is created.
 */
import { channel } from 'node:diagnostics_channel'
import { type Enqueued, formatId, type NewJob } from '@millrace/core'

/** The message on `millrace:enqueued`, published once the job is committed or, with a journal, synced to the journal. */
export interface JobEnqueued {
  readonly jobId: string
  readonly name: string
  /** The queue that the call names; undefined for that of the definition, or else the engine's default. */
  readonly queue: string | undefined
  /** False if a key matched an earlier job, which `jobId` then names. */
  readonly created: boolean
}

/** Ask it for subscribers before `tellEnqueued`. */
export const ENQUEUED = channel('millrace:enqueued')

/** Publishes the jobs with their keys, which are in the same order. */
export function tellEnqueued(jobs: readonly NewJob[], keys: readonly Enqueued[]): void {
  for (const [index, key] of keys.entries()) {
    const { name, queue } = jobs[index] as NewJob
    const enqueued: JobEnqueued = { jobId: formatId(key), name, queue, created: key.created }
    ENQUEUED.publish(enqueued)
  }
}

/** The interface of a queue to import from: it yields what it finds, and what each becomes here. */
import type { FlowNodeRequest, JobRequest, ScheduledJob } from '@millrace/client'
import type { ScheduleOptions } from '@millrace/core'

/** The result of translating an entry of the other queue. */
export type Outcome =
  | { readonly as: 'job'; readonly job: JobRequest }
  | { readonly as: 'flow'; readonly nodes: readonly FlowNodeRequest[] }
  /** A job of a flow, which is imported with its flow. */
  | { readonly as: 'node' }
  | { readonly as: 'schedule'; readonly id: string; readonly options: ScheduleOptions; readonly job: ScheduledJob }
  /** Left there on purpose, as everything in that state. */
  | { readonly as: 'left'; readonly why: string }
  /** It should be imported, and cannot be. */
  | { readonly as: 'unfit'; readonly error: Error }

export interface Found {
  /** The queue and the state in the words of the source. */
  readonly queue: string
  readonly state: string
  /** Identifies the entry, also among those of other servers: its idempotency key derives from it. */
  readonly id: string
  /** Names of the features that it uses, which are keys of `features`. */
  readonly uses: readonly string[]
  readonly outcome: Outcome
}

/** Entries that are counted and not read: they have ended. */
export interface Ended {
  readonly queue: string
  readonly state: string
  readonly count: number
}

/** A setting of a queue that is not imported. */
export interface Setting {
  readonly queue: string
  readonly what: string
  /** The command of `millrace` that sets it here. */
  readonly command: string
}

export interface Source {
  /** Describes the store for people, without its password. */
  readonly at: string
  /** Says of each feature what becomes of it. */
  readonly features: Readonly<Record<string, string>>
  /** @throws NotFoundError, SourceError if the store does not have the queue, or in a version that cannot be read */
  check(): Promise<void>
  ended(): Promise<readonly Ended[]>
  settings(): Promise<readonly Setting[]>
  /** Yields pages of entries in the order in which they start. */
  found(): AsyncIterable<readonly Found[]>
  /** Returns a string that differs after jobs have come or gone. From the second call on, the source reads the store as it is then. */
  version(): Promise<string>
  close(): Promise<void>
}

export interface SourceOptions {
  readonly url: string
  /** The prefix, schema or collection. */
  readonly namespace: string
  /** The queues to read; undefined for all of them. */
  readonly only: ReadonlySet<string> | undefined
  readonly includeActive: boolean
}

export const ACTIVE_LEFT = 'a worker has it: include active jobs to import it'

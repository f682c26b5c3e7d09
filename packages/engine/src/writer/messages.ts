/** Messages between the host and the writer thread beside the commands: few words, each with one meaning. */
import type { MessagePort } from 'node:worker_threads'
import type { QueueDefaults, Refusal, Retention } from '@millrace/core'

/** The settings of the actor that do not depend on the kind of its store; plain data. */
export interface WriterSettings {
  readonly recovery: 'immediate' | 'backoff'
  readonly retention: Retention
  readonly defaults?: QueueDefaults | undefined
  /** The maximum number of queues; more are refused. Default 10,000. */
  readonly maxQueues?: number
  /** The maximum number of bytes of data, output and checkpoint each, from any sender. Default 16 MiB. */
  readonly maxDataBytes?: number
}

export interface WriterData {
  /** The options of the store module's writer. */
  readonly store: unknown
  readonly settings: WriterSettings
  /** Sessions of this process that may come back for their jobs. */
  readonly alive: readonly string[]
  readonly channel: MessagePort
  /** Shared memory: the time of the last beat, by `sharedMono`. */
  readonly beat: Float64Array
}

export type ToWriter =
  /** Adds a connection. */
  | { readonly kind: 'connect'; readonly channel: MessagePort }
  /** Adds a channel of many connections: `ports/mux.ts`. */
  | { readonly kind: 'connectMux'; readonly channel: MessagePort }
  /** Reports worker sessions whose process is certainly dead. */
  | { readonly kind: 'declareDead'; readonly sessions: readonly string[] }
  /** Finishes what has arrived, closes the store, and ends. */
  | { readonly kind: 'close' }

export type FromWriter =
  | { readonly kind: 'ready'; readonly epoch: number; readonly schema: number }
  /** A warning for the logger of the host. */
  | { readonly kind: 'warning'; readonly message: string; readonly details: Readonly<Record<string, unknown>> }
  /** The store does not say who owns it: the announcement is missing, or is not there yet. */
  | { readonly kind: 'forgotten' }
  /** The store cannot be opened, or the writer cannot continue; the thread ends. */
  | { readonly kind: 'failed'; readonly refusal: Refusal }
  | { readonly kind: 'closed' }

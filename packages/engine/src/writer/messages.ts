/** Messages between the host and the writer thread beside the commands: few words, each with one meaning. */
import type { MessagePort } from 'node:worker_threads'
import type { FileAccess, QueueDefaults, Refusal, Retention } from '@millrace/core'

/** The options by which the writer thread opens the file; plain data. */
export interface WriterOptions {
  readonly file: string
  readonly durability: 'full' | 'normal'
  readonly recovery: 'immediate' | 'backoff'
  readonly waitForOwnerMs: number
  readonly cacheKib: number
  readonly secureDelete: boolean
  readonly retention: Retention
  readonly defaults?: QueueDefaults | undefined
  /** The maximum number of queues; more are refused. Default 10,000. */
  readonly maxQueues?: number
  /** The maximum number of bytes of data, output and checkpoint each, from any sender. Default 16 MiB. */
  readonly maxDataBytes?: number
  readonly unsafeFilesystem: 'refuse' | 'allow'
  readonly fileAccess?: FileAccess | undefined
}

export interface WriterData {
  readonly options: WriterOptions
  /** Sessions of this process that may come back for their jobs. */
  readonly alive: readonly string[]
  readonly channel: MessagePort
}

export type ToWriter =
  /** Adds a connection. */
  | { readonly kind: 'connect'; readonly channel: MessagePort }
  /** Adds a channel of many connections: `ports/mux.ts`. */
  | { readonly kind: 'connectMux'; readonly channel: MessagePort }
  /** Reports worker sessions whose process is certainly dead. */
  | { readonly kind: 'declareDead'; readonly sessions: readonly string[] }
  /** Finishes what has arrived, closes the file, and ends. */
  | { readonly kind: 'close' }

export type FromWriter =
  | { readonly kind: 'ready'; readonly epoch: number; readonly schema: number }
  /** A warning for the logger of the host. */
  | { readonly kind: 'warning'; readonly message: string; readonly details: Readonly<Record<string, unknown>> }
  /** The file cannot be opened, or the writer cannot continue; the thread ends. */
  | { readonly kind: 'failed'; readonly refusal: Refusal }
  | { readonly kind: 'closed' }

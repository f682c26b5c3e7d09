/** What the host and the writer thread say to each other beside the commands: few words, each with one meaning. */
import type { MessagePort } from 'node:worker_threads'
import type { FileAccess, QueueDefaults, Refusal, Retention } from '@millrace/core'

/** All that the writer thread needs to open the file; plain data. */
export interface WriterOptions {
  readonly file: string
  readonly durability: 'full' | 'normal'
  readonly recovery: 'immediate' | 'backoff'
  readonly waitForOwnerMs: number
  readonly cacheKib: number
  readonly secureDelete: boolean
  readonly retention: Retention
  readonly defaults?: QueueDefaults | undefined
  /** A queue beyond so many is refused. Default 10,000. */
  readonly maxQueues?: number
  /** Of data, output and checkpoint each, whoever sends them. Default 16 MiB. */
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
  /** One more connection. */
  | { readonly kind: 'connect'; readonly channel: MessagePort }
  /** A channel of many connections: `ports/trunk.ts`. */
  | { readonly kind: 'connectTrunk'; readonly channel: MessagePort }
  /** Worker sessions whose process is dead for certain. */
  | { readonly kind: 'declareDead'; readonly sessions: readonly string[] }
  /** Finish what has arrived, close the file, end. */
  | { readonly kind: 'close' }

export type FromWriter =
  | { readonly kind: 'ready'; readonly epoch: number; readonly schema: number }
  /** For the logger of the host. */
  | { readonly kind: 'warning'; readonly message: string; readonly details: Readonly<Record<string, unknown>> }
  /** The file cannot be opened, or the writer cannot go on; the thread ends. */
  | { readonly kind: 'failed'; readonly refusal: Refusal }
  | { readonly kind: 'closed' }

/** What `openStore` takes. Time, chance and the process's name are arguments. */

import type { FileAccess } from '@millrace/core'

/** Hears of something that does not keep the file from being opened. */
export type Warn = (message: string, details: Readonly<Record<string, unknown>>) => void

export interface StoreOptions {
  /** A path, or `':memory:'`. */
  readonly file: string
  /** `full`: a commit that returned is on the disk. `normal`: power loss may take the last commits. */
  readonly durability: 'full' | 'normal'
  /** The writer's page cache. Default 16 MiB. */
  readonly cacheKib?: number
  /** What is deleted is overwritten with zeros. Default false. */
  readonly secureDelete?: boolean
  /** In [0, 1); draws the file's node number when it is created or restored. */
  readonly random: () => number
  /** Wall time in milliseconds since 1970. */
  readonly now: number
  readonly host: string
  readonly pid: number
  /** How long to wait, blocking, for another owner to let go. Default 0. */
  readonly waitMs?: number
  /** `allow` opens files on network, 9p and FUSE file systems all the same. Default `refuse`. */
  readonly unsafeFilesystem?: 'refuse' | 'allow'
  /** The room kept for a full disk. Default 16 MiB. */
  readonly ballastBytes?: number
  /** Sets the mode of every file. Unless stated new files are their owner's alone, and a group that may read the database stays. */
  readonly fileAccess?: FileAccess | undefined
  readonly warn?: Warn
}

export const MEMORY_FILE = ':memory:'

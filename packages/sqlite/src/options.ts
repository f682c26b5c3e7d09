/** The options of `openStore`. Time, randomness and the process's name are arguments. */

import type { FileAccess } from '@millrace/core'

/** Receives a problem that does not keep the file from being opened. */
export type Warn = (message: string, details: Readonly<Record<string, unknown>>) => void

export interface StoreOptions {
  /** A path, or `':memory:'`. */
  readonly file: string
  /** `full`: a commit that returned is on the disk. `normal`: a power loss may lose the last commits. */
  readonly durability: 'full' | 'normal'
  /** The size of the writer's page cache in KiB. Default 16 MiB. */
  readonly cacheKib?: number
  /** If true, deleted content is overwritten with zeros. Default false. */
  readonly secureDelete?: boolean
  /** False: a file with an older schema is refused, and stays as it is. Default true: it is migrated. */
  readonly autoMigrate?: boolean
  /** Returns a number in [0, 1); draws the file's node number when the file is created or restored. */
  readonly random: () => number
  /** Wall time in milliseconds since 1970. */
  readonly now: number
  readonly host: string
  readonly pid: number
  /** The milliseconds to wait, blocking, for another owner to release the file. Default 0. */
  readonly waitMs?: number
  /** `allow` also opens files on network, 9p and FUSE file systems. Default `refuse`. */
  readonly unsafeFilesystem?: 'refuse' | 'allow'
  /** The bytes reserved for a full disk. Default 16 MiB. */
  readonly ballastBytes?: number
  /**
   * Sets the mode of every file. By default, new files are their owner's alone, and a group that may read the database keeps its
   * access.
   */
  readonly fileAccess?: FileAccess | undefined
  readonly warn?: Warn
}

export const MEMORY_FILE = ':memory:'

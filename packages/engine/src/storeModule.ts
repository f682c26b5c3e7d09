/**
 * A kind of store, as the process that opens it knows it: which threads to start, and what becomes of the store without them. `file` is the
 * one for SQLite. Another kind brings its own threads, which call `runWriter` and `pagesOf`.
 */
import type { Refusal } from '@millrace/core'
import type { Ownership } from './share/ownership.ts'

export interface StoreModule {
  /** The thread that owns the store. */
  readonly writer: ThreadModule
  /** The threads that answer lists; undefined if only the writer can read. */
  readonly reader: ThreadModule | undefined
  /** True if the store is on a server, which may be away for a while: a writer that cannot reach it is started again until it can. */
  readonly onServer: boolean
  /** Returns how processes find the owner. Only those that share the store ask. */
  ownership(): Ownership
  /**
   * Returns why no writer is started in place of a dead one: the store no longer exists, and a new one in its place would be another
   * queue, and hide the loss of all its jobs. Returns undefined if the store is where it was.
   */
  gone(): Refusal | undefined
}

/** A file that threads run, and what they open. */
export interface ThreadModule {
  /** @throws UnsupportedRuntimeError if the package was bundled without the file */
  readonly file: () => URL
  /** Plain data, as the file's own code understands it. */
  readonly options: unknown
}

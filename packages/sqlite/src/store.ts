/** The store as the engine has it: one writer connection, which `reopen` replaces, and the files beside the database. */
import { statSync } from 'node:fs'
import { answersOf, type FileCare, type Store, StoreFailure } from '@millrace/core/kernel'
import { backUp } from './backup.ts'
import { diskSpaceOf } from './diskSpace.ts'
import type { Database } from './driver.ts'
import { Held, type StoreParts } from './held.ts'
import { forwardReads } from './read/forward.ts'

export interface SqliteStore extends Store {
  readonly file: string
  readonly care: FileCare
  /** The number of engines that have owned the file, this one included. */
  readonly epoch: number
  /** The file's number in the ids of its jobs. */
  readonly node: number
  /** Returns true if the file and its log are where they were. @throws StoreFailure, of the reason `owner` if they are not */
  beat(): boolean
}

export function makeStore(db: Database, parts: StoreParts): SqliteStore {
  const { file, claim, ballast, connect, making, release } = parts
  const held = new Held(db, parts)
  let closed = false
  const reads = forwardReads(() => held.current.reads)

  return {
    file,
    epoch: claim.epoch,
    node: claim.node,
    ...reads,
    read: (questions) => answersOf(reads, questions),
    write: (effects, header) => {
      held.look(header.at).write(effects, header)
      held.committed(header.nextEvent)
    },
    beat: () => held.look() !== undefined,
    care: {
      backup: async (target) => backUp(held.current.db, target, making()),
      walBytes: () => (connect === undefined ? 0 : (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0)),
      foldWal: () => {
        const { db: folded } = held.look()
        try {
          folded.pragma('wal_checkpoint(TRUNCATE)')
        } catch {
          // For example on a full disk: the log stays as long as before, and the caller sees that.
        }
      },
      freePages: () => held.current.shrink.freePages(),
      room: () => diskSpaceOf(held.current.shrink, connect === undefined ? undefined : file),
      shrink: (pages) => held.look().shrink.shrink(pages),
      ballastNeedsBytes: ballast.neededBytes,
      releaseBallast: ballast.release,
      restoreBallast: ballast.restore,
    },
    reopen: () => {
      if (closed) throw new StoreFailure('before', 'io', `${file} is closed`)
      held.reopen()
    },
    close: () => {
      if (closed) return
      closed = true
      try {
        held.close()
      } finally {
        release()
      }
    },
  }
}

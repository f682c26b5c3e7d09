/** The store as the engine has it: one writer connection, which `reopen` replaces, and the files beside the database. */
import { statSync } from 'node:fs'
import { EngineFailedError } from '@millrace/core'
import { answersOf, type FileCare, type Store, StoreFailure } from '@millrace/core/kernel'
import type { Making } from './access.ts'
import { backUp } from './backup.ts'
import type { Ballast } from './ballast.ts'
import type { Database } from './driver.ts'
import { Identity } from './identity.ts'
import type { Claim } from './open/claim.ts'
import { forwardReads } from './read/forward.ts'
import { prepareReads, type Reads } from './read/reads.ts'
import { roomOf } from './room.ts'
import { prepareShrink, type Shrink } from './shrink.ts'
import { prepareWrite, type Write } from './write/write.ts'

export interface SqliteStore extends Store {
  readonly file: string
  readonly care: FileCare
  /** The number of engines that have owned the file, this one included. */
  readonly epoch: number
  /** The file's number in the ids of its jobs. */
  readonly node: number
}

/** The parts of a store. */
export interface StoreParts {
  readonly file: string
  readonly claim: Claim
  readonly ballast: Ballast
  /** Opens the writer's connection again; undefined if the database lives and dies with its first connection. */
  readonly connect: (() => Database) | undefined
  /** Returns the mode and the owner for a backup. */
  readonly making: () => Making
  /** Runs after the last connection is closed. */
  readonly release: () => void
}

interface Connection {
  readonly db: Database
  readonly reads: Reads
  readonly write: Write
  readonly shrink: Shrink
}

export function makeStore(db: Database, { file, claim, ballast, connect, making, release }: StoreParts): SqliteStore {
  const prepare = (opened: Database): Connection => ({
    db: opened,
    reads: prepareReads(opened),
    write: prepareWrite(opened, claim),
    shrink: prepareShrink(opened, claim),
  })
  let connection: Connection | undefined = prepare(db)
  let closed = false
  const current = (): Connection => {
    if (connection === undefined) throw new StoreFailure('before', 'io', `${file} is closed`)
    return connection
  }
  const identity = connect === undefined ? undefined : new Identity(file)
  const disconnect = () => {
    const last = connection
    connection = undefined
    last?.db.close()
  }

  const reads = forwardReads(() => current().reads)

  return {
    file,
    epoch: claim.epoch,
    node: claim.node,
    ...reads,
    read: (questions) => answersOf(reads, questions),
    write: (effects, header) => {
      current().write(effects, header)
      identity?.assertInTime(header.at)
    },
    care: {
      backup: async (target) => backUp(current().db, target, making()),
      walBytes: () => (connect === undefined ? 0 : (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0)),
      foldWal: () => {
        try {
          current().db.pragma('wal_checkpoint(TRUNCATE)')
        } catch {
          // For example on a full disk: the log stays as long as before, and the caller sees that.
        }
      },
      freePages: () => current().shrink.freePages(),
      room: () => roomOf(current().shrink, connect === undefined ? undefined : file),
      shrink: (pages) => current().shrink.shrink(pages),
      ballastNeedsBytes: ballast.neededBytes,
      releaseBallast: ballast.release,
      restoreBallast: ballast.restore,
    },
    reopen: () => {
      if (closed) throw new StoreFailure('before', 'io', `${file} is closed`)
      if (connect === undefined) throw new EngineFailedError('a database in memory is lost with its connection: open the engine again')
      disconnect()
      // SQLite would create a new file, or take a copy for it.
      identity?.assertDatabase()
      connection = prepare(connect())
      identity?.reopened()
    },
    close: () => {
      if (closed) return
      closed = true
      try {
        disconnect()
      } finally {
        release()
      }
    },
  }
}

/** Opens a database as its one owner: identifies the file, locks it, migrates it and claims it. */
import { closeSync, existsSync, rmSync } from 'node:fs'
import { isErrorOf, NotADatabaseError } from '@millrace/core'
import { StoreFailure } from '@millrace/core/kernel'
import { assertPlain, createFile, type Making, makingOf, restrict } from './access.ts'
import { type Ballast, ballastBeside, NO_BALLAST } from './ballast.ts'
import { newFile, ownerFile, savedCopies } from './companionFiles.ts'
import type { Database } from './driver.ts'
import { SCHEMA_VERSION } from './migrations/list.ts'
import { type Claim, claim, epochOf } from './open/claim.ts'
import { connectWriter } from './open/connect.ts'
import { openWithSpace } from './open/fullDisk.ts'
import { type IdentifyOptions, identify, translate } from './open/identify.ts'
import { assertOwnLog, hasLog } from './open/log.ts'
import { migrate } from './open/migrate.ts'
import { checkPlace, realFile } from './open/place.ts'
import { MEMORY_FILE, type StoreOptions } from './options.ts'
import { lockOwner } from './owner/lock.ts'
import { probeOwner } from './owner/probe.ts'
import { makeStore, type SqliteStore } from './store.ts'

const CACHE_KIB = 16 * 1024
const BALLAST_BYTES = 16 * 2 ** 20

export function openStore(given: StoreOptions): SqliteStore {
  if (given.file === MEMORY_FILE) return openInMemory(given)
  checkPlace(given.file, process.platform, given.unsafeFilesystem ?? 'refuse')
  const options = { ...given, file: realFile(given.file) }
  const ballast = ballastBeside(options.file, options.ballastBytes ?? BALLAST_BYTES, () => makingOf(options.file, options.fileAccess))
  const release = () => {
    // Another engine's ballast stays.
    if (probeOwner(options.file) === undefined) ballast.release()
  }
  return openWithSpace(options.file, release, () => openOrExplain(options, ballast))
}

function connect({ file, durability, cacheKib = CACHE_KIB, secureDelete }: StoreOptions): Database {
  return connectWriter(file, { durability, cacheKib, secureDelete, platform: process.platform })
}

function openOrExplain(options: StoreOptions, ballast: Ballast): SqliteStore {
  try {
    return openOnDisk(options, ballast)
  } catch (error) {
    throw translate(error, options.file)
  }
}

function openInMemory(options: StoreOptions): SqliteStore {
  const db = connect(options)
  migrate(db, options)
  return makeStore(db, {
    file: MEMORY_FILE,
    claim: claim(db, options.random),
    ballast: NO_BALLAST,
    connect: undefined,
    making: () => makingOf(MEMORY_FILE, options.fileAccess),
    release: () => {},
    warn: () => {},
  })
}

function openOnDisk(options: StoreOptions, ballast: Ballast): SqliteStore {
  const { file, fileAccess, warn = () => {} } = options
  return owned(options, undefined, ({ db, claim: mine, release }) =>
    makeStore(db, {
      file,
      claim: mine,
      ballast,
      connect: () => stillMine(connect(options), mine.epoch),
      making: () => makingOf(file, fileAccess),
      release,
      warn,
    }),
  )
}

/** A file that nobody else has open, and its database. */
export interface OwnedFile {
  readonly db: Database
  readonly claim: Claim
  readonly release: () => void
}

/** Opens a file that has a part in a move. @throws as `openStore` */
export function ownFile(given: StoreOptions, move: 'source' | 'target'): OwnedFile {
  checkPlace(given.file, process.platform, given.unsafeFilesystem ?? 'refuse')
  const options = { ...given, file: realFile(given.file) }
  try {
    return owned(options, move, (opened) => opened)
  } catch (error) {
    throw translate(error, options.file)
  }
}

/** Closes the file again if `use` throws. */
function owned<Value>(options: StoreOptions, move: IdentifyOptions['move'], use: (opened: OwnedFile) => Value): Value {
  const { file, now, pid, host, random, waitMs = 0, autoMigrate = true, fileAccess, warn = () => {} } = options
  const allowed: IdentifyOptions = { oldest: autoMigrate ? 0 : SCHEMA_VERSION, ...(move && { move }) }
  const making = () => makingOf(file, fileAccess)
  assertPlain(file)
  const lock = () => lockOwner({ file, pid, host, now, waitMs, making })
  // A killed engine has left its log: SQLite must not see it before the log is known to be the file's own.
  let owner = hasLog(file) && existsSync(ownerFile(file)) ? lock() : undefined
  let db: Database | undefined
  try {
    if (owner !== undefined) assertOwnLog(file)
    // This comes before the owner's file: an empty database beside that file was emptied.
    const known = identifyUnlessClosing(file, allowed)
    if (known === false && move === 'source') throw new NotADatabaseError(`there is nothing to move in ${file}`, { path: file })
    if (known === false && !existsSync(ownerFile(file))) markNew(file, making())
    owner ??= lock()
    restrict(file, fileAccess, warn)
    for (const copy of savedCopies(file))
      warn(
        `${copy} has jobs that were acknowledged when the log of ${file} was taken away, and ${file} may lack them: see docs/durability.md`,
        { file: copy },
      )
    owner.announce(0)
    // Looks again, now that nobody else can create or migrate the file.
    if (!identify(file, { waitMs, ...allowed })) createDatabase(file, making())
    db = connect(options)
    migrate(db, { file, now, making: making() })
    const mine = claim(db, random)
    rmSync(newFile(file), { force: true })
    owner.announce(mine.epoch)
    return use({ db, claim: mine, release: owner.release })
  } catch (error) {
    db?.close()
    owner?.release()
    throw error
  }
}

/** Call it only while nobody else can open the file: closing the descriptor would drop the locks that this process has on it. */
function createDatabase(file: string, making: Making): void {
  markNew(file, making)
  createUnlessThere(file, making)
}

function markNew(file: string, making: Making): void {
  createUnlessThere(newFile(file), making)
}

function createUnlessThere(path: string, making: Making): void {
  try {
    closeSync(createFile(path, making))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/**
 * Identifies the file, or returns undefined if a closing owner has locked it. An owner's last act locks the database itself while
 * the log is folded into it. The caller then waits for the owner's lock, which decides.
 */
function identifyUnlessClosing(file: string, allowed: IdentifyOptions): boolean | undefined {
  try {
    return identify(file, allowed)
  } catch (error) {
    if (!isErrorOf(error, 'StorageBusyError') || !existsSync(ownerFile(file))) throw error
    return undefined
  }
}

/** Rejects the connection if the epoch has changed. The lock is held all the while; the epoch is a second check. */
function stillMine(db: Database, epoch: number): Database {
  if (epochOf(db) === epoch) return db
  db.close()
  throw new StoreFailure('before', 'owner', 'another engine has taken the file over')
}

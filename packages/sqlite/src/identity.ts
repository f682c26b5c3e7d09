/**
 * Notices that a database, its log or the log's index was moved, deleted or replaced while it is open: SQLite keeps writing into a file that
 * has lost its name. Another copy of SQLite in this process does that to the log when it closes the database, also after a mere SELECT: locks
 * do not keep a process from itself.
 */
import { closeSync, openSync, type Stats, statSync } from 'node:fs'
import { StoreFailure } from '@millrace/core/kernel'
import { indexFile, walFile } from './companionFiles.ts'

/** The longest time that a database without its name goes unnoticed while turns are written. */
const LOOK_EVERY_MS = 10

/** Knows which files they were when the store was opened. The next engine finds other files under their names, or none. */
export class Identity {
  readonly #database: Known
  #log: Known
  #index: Known
  #lookedAt = 0
  /** The size and the times of the database at the last look. */
  #stamp: string | undefined
  /** The log itself, whatever its name is by now. SQLite locks other files, so closing this one drops no lock. */
  #descriptor: number | undefined

  constructor(file: string) {
    this.#database = known(file)
    this.#log = known(walFile(file))
    this.#index = known(indexFile(file))
    this.#begin()
  }

  /** Call it when the database was opened again: the last connection takes the log with it. */
  reopened(): void {
    this.#log = known(this.#log.path)
    this.#index = known(this.#index.path)
    this.#begin()
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    this.#descriptor = undefined
  }

  /** The log's descriptor; undefined if it was opened when the log had lost its name already. */
  get log(): number | undefined {
    return this.#descriptor
  }

  /** True if the name of the database means the same file as ever. */
  get hasDatabase(): boolean {
    return isSame(this.#database)
  }

  /** True if the name of the log means the same file as ever. */
  get hasLog(): boolean {
    return isSame(this.#log)
  }

  /** True if nobody has written into the database since the last look, this process included. */
  get isUntouched(): boolean {
    return this.hasDatabase && stampOf(this.#database.path) === this.#stamp
  }

  /** @throws StoreFailure of the phase `before` if the database's name means another file by now */
  assertDatabase(): void {
    assertSame(this.#database, 'before', '')
  }

  /**
   * Asserts all three before a turn, now and then: a look costs 1.5 µs. `at` is the turn's time.
   *
   * @throws StoreFailure of the phase `before` if one of the names means another file by now
   */
  assertInTime(at: number): void {
    if (Math.abs(at - this.#lookedAt) < LOOK_EVERY_MS) return
    this.assertAll()
    this.#lookedAt = at
  }

  /** @throws StoreFailure of the phase `before` if one of the names means another file by now */
  assertAll(): void {
    this.assertDatabase()
    assertSame(this.#log, 'before', BY_ANOTHER)
    assertSame(this.#index, 'before', BY_ANOTHER)
    this.#stamp = stampOf(this.#database.path)
  }

  /**
   * Asserts the log after each turn: what is acknowledged now is nowhere else.
   *
   * @throws StoreFailure of the phase `commit` if its name means another file by now
   */
  assertLog(): void {
    assertSame(this.#log, 'commit', BY_ANOTHER)
  }

  #begin(): void {
    this.close()
    if (this.#log.is !== undefined) this.#descriptor = openSync(this.#log.path, 'r')
    this.#stamp = stampOf(this.#database.path)
  }
}

interface Known {
  readonly path: string
  readonly is: string | undefined
}

const BY_ANOTHER = ', perhaps by another library that has opened and closed the database in this process'

function known(path: string): Known {
  return { path, is: identityOf(path) }
}

/** True also while the system does not say: a folder that may not be read for a while takes nothing away. */
function isSame({ path, is }: Known): boolean {
  const found = foundAt(path)
  return found === UNKNOWN || identityFrom(found) === is
}

function assertSame(file: Known, phase: 'before' | 'commit', by: string): void {
  if (!isSame(file)) throw new StoreFailure(phase, 'owner', `${file.path} was moved, deleted or replaced under the engine${by}`)
}

function identityOf(file: string): string | undefined {
  const found = foundAt(file)
  return found === UNKNOWN ? undefined : identityFrom(found)
}

function identityFrom(found: Stats | undefined): string | undefined {
  return found === undefined ? undefined : `${found.dev}:${found.ino}`
}

function stampOf(file: string): string | undefined {
  const found = foundAt(file)
  return found === UNKNOWN || found === undefined ? undefined : `${found.size}:${found.mtimeMs}:${found.ctimeMs}`
}

const UNKNOWN = Symbol('unknown')

/** Asks of a file without opening it: opening and closing it would drop SQLite's locks. */
function foundAt(file: string): Stats | undefined | typeof UNKNOWN {
  try {
    return statSync(file, { throwIfNoEntry: false })
  } catch {
    return UNKNOWN
  }
}

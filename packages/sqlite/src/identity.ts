/**
 * Notices that a database, its log or the log's index was moved, deleted or replaced while it is open: SQLite keeps writing into a file that
 * has lost its name. Another copy of SQLite in this process does that to the log when it closes the database, also after a mere SELECT: locks
 * do not keep a process from itself.
 */
import { statSync } from 'node:fs'
import { StoreFailure } from '@millrace/core/kernel'

/** The longest time that a database without its name goes unnoticed while turns are written. */
const LOOK_EVERY_MS = 10

/** Knows which files they were when the store was opened. The next engine finds other files under their names, or none. */
export class Identity {
  readonly #database: Known
  #log: Known
  #index: Known
  #lookedAt = 0

  constructor(file: string) {
    this.#database = known(file)
    this.#log = known(`${file}-wal`)
    this.#index = known(`${file}-shm`)
  }

  /** Call it when the database was opened again: the last connection takes the log with it. */
  reopened(): void {
    this.#log = known(this.#log.path)
    this.#index = known(this.#index.path)
  }

  /** @throws StoreFailure of the phase `commit` if the database's name means another file by now */
  assertDatabase(): void {
    assertSame(this.#database, '')
  }

  /**
   * Asserts the log after each turn: what was acknowledged is nowhere else. The others are looked at now and then: a look costs 1.5 µs.
   * `at` is the turn's time.
   *
   * @throws StoreFailure of the phase `commit` if one of the names means another file by now
   */
  assertInTime(at: number): void {
    assertSame(this.#log, BY_ANOTHER)
    if (Math.abs(at - this.#lookedAt) < LOOK_EVERY_MS) return
    this.#lookedAt = at
    this.assertDatabase()
    assertSame(this.#index, BY_ANOTHER)
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

function assertSame({ path, is }: Known, by: string): void {
  if (identityOf(path) === is) return
  const message = `${path} was moved, deleted or replaced under the engine${by}: what was written since is not in it`
  throw new StoreFailure('commit', 'owner', message)
}

/** Identifies a file without opening it: opening and closing it would drop SQLite's locks. */
function identityOf(file: string): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false })
  return found === undefined ? undefined : `${found.dev}:${found.ino}`
}

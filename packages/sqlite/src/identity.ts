/** Notices that a file was moved, deleted or replaced while it is open: SQLite keeps writing into the file that has lost its name. */
import { statSync } from 'node:fs'
import { StoreFailure } from '@millrace/core/kernel'

/** The longest time that a file without its name goes unnoticed while turns are written. */
const LOOK_EVERY_MS = 10

/** Knows which file it was when the store was opened. The next engine finds another file under its name, or none. */
export class Identity {
  readonly #file: string
  readonly #own: string | undefined
  #lookedAt = 0

  constructor(file: string) {
    this.#file = file
    this.#own = identityOf(file)
  }

  /** @throws StoreFailure of the phase `commit` if the name means another file by now */
  assert(): void {
    if (identityOf(this.#file) === this.#own) return
    const message = `${this.#file} was moved, deleted or replaced under the engine: what was written since is not in it`
    throw new StoreFailure('commit', 'owner', message)
  }

  /** Asserts it now and then: a look costs a lone turn 15 µs, and this often is soon enough. `at` is the turn's time. */
  assertInTime(at: number): void {
    if (Math.abs(at - this.#lookedAt) < LOOK_EVERY_MS) return
    this.#lookedAt = at
    this.assert()
  }
}

/** Identifies a file without opening it: opening and closing it would drop SQLite's locks. */
function identityOf(file: string): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false })
  return found === undefined ? undefined : `${found.dev}:${found.ino}`
}

/** Notices that a small database beside the queue, or its log, was taken away, and saves what it has. The queue itself has `held.ts`. */
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { OwnerLostError } from '@millrace/core'
import { makingOf } from './access.ts'
import { copyWhole } from './backup.ts'
import { savedFile } from './companionFiles.ts'
import type { Database } from './driver.ts'
import { Identity } from './identity.ts'

export class WatchedFile {
  readonly #db: Database
  readonly #file: string
  readonly #identity: Identity
  #lost: OwnerLostError | undefined

  /** @param db has read: its log exists */
  constructor(db: Database, file: string) {
    this.#db = db
    this.#file = file
    this.#identity = new Identity(file)
  }

  /** Call it before each write and after its commit. @throws OwnerLostError, the same one again once the files are lost */
  assert(): void {
    if (this.#lost !== undefined) throw this.#lost
    try {
      this.#identity.assertAll()
    } catch (error) {
      this.#lost = new OwnerLostError(`${(error as Error).message}: ${this.#save()}`, { path: this.#file })
      throw this.#lost
    }
  }

  /** Closes the database if its files are there. Otherwise it stays open: SQLite would fold the log into what has the name now. */
  close(): void {
    try {
      this.assert()
      this.#db.close()
    } catch (error) {
      if (error !== this.#lost) throw error
    } finally {
      this.#identity.close()
    }
  }

  /** Several processes may have it open, and each saves what it sees. */
  #save(): string {
    const name = basename(this.#file)
    let number = process.pid
    while (existsSync(savedFile(this.#file, number))) number++
    const target = savedFile(this.#file, number)
    try {
      copyWhole(this.#db, target, makingOf(this.#file, 'owner'))
    } catch (error) {
      return `what it had could not be saved (${(error as Error).message}), and ${name} may lack it`
    }
    return `all that it had is in ${basename(target)}. Stop all that has ${name} open, move it and its log away, and give the copy its name`
  }
}

/**
 * Decides whether new work is accepted. It is refused while the disk is full, and while a reader has kept the write-ahead log from being
 * folded into the file for so long that it takes a gigabyte. Running jobs complete. A look once a second resumes service automatically.
 */
import { LIMITS, type Now, type Refusal, type Store } from '@millrace/core'

const LOOK_EVERY_MS = 1_000

export class Admission {
  readonly #store: Store
  #nextMono = Number.NEGATIVE_INFINITY
  #diskFull = false
  #walFull = false

  constructor(store: Store) {
    this.#store = store
  }

  /** Why new work is refused; undefined while it is accepted. */
  get refusal(): Refusal | undefined {
    if (this.#diskFull) return this.diskFull('the disk is full: new jobs are refused, running jobs continue')
    return this.#walFull ? walFull() : undefined
  }

  /** When to look again, at the latest. */
  get nextMs(): number {
    return this.refusal === undefined ? LIMITS.timerSliceMs : LOOK_EVERY_MS
  }

  /** A write found the disk full: releases the room that was kept for this. False where that was done already. */
  diskIsFull(now: Now): boolean {
    if (this.#diskFull) return false
    this.#diskFull = true
    this.#nextMono = now.mono + LOOK_EVERY_MS
    this.#store.releaseBallast()
    return true
  }

  /** How a full disk refuses, with what happened, and what to do. */
  diskFull(what: string): Refusal {
    const neededBytes = this.#store.ballastNeedsBytes
    const room = `${Math.ceil(neededBytes / 2 ** 20)} MiB (${neededBytes} bytes)`
    return {
      code: 'DISK_FULL',
      message: `${what}. Free some space: service resumes automatically when ${room} are free`,
      details: { neededBytes },
    }
  }

  /** Before a turn. Service resumes as soon as the room that was released can be kept again, and the log is short again. */
  look(now: Now): void {
    if (this.#nextMono > now.mono) return
    this.#nextMono = now.mono + LOOK_EVERY_MS
    if (this.#diskFull && this.#store.restoreBallast()) this.#diskFull = false
    this.#walFull = this.#store.walBytes() > LIMITS.walBytes && !this.#folded()
  }

  /** No commit may come to do it, now that new work is refused. */
  #folded(): boolean {
    this.#store.foldWal()
    return this.#store.walBytes() <= LIMITS.walBytes
  }
}

function walFull(): Refusal {
  return {
    code: 'STORAGE_BUSY',
    message: `a program that reads the file has kept its write-ahead log from being folded in until it grew past ${LIMITS.walBytes} bytes: new jobs are refused, running ones continue. End the long read: service then resumes automatically`,
  }
}

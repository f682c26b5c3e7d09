/**
 * Decides whether new work is accepted. It is refused while the disk is full. It is also refused if a reader keeps the
 * write-ahead log from being folded into the file until the log takes a gigabyte. Running jobs complete. A check once a
 * second resumes service automatically.
 */
import { LIMITS, type Now, type Refusal } from '@millrace/core'
import type { FileCare } from '@millrace/core/kernel'

const LOOK_EVERY_MS = 1_000

export class Admission {
  /** Undefined if the store is in no file. */
  readonly #care: FileCare | undefined
  /** True if new work is accepted, and there is no news of that. */
  isOpen = true
  #nextMono = Number.NEGATIVE_INFINITY
  #diskFull = false
  #walFull = false
  /** The refusal that was reported last; undefined if work is accepted, or nothing was reported. */
  #reported: string | undefined

  constructor(care: FileCare | undefined) {
    this.#care = care
  }

  /** The reason for which new work is refused; undefined while it is accepted. */
  get refusal(): Refusal | undefined {
    if (this.#diskFull) return this.diskFull('the disk is full: new jobs are refused, running jobs continue')
    return this.#walFull ? walFull() : undefined
  }

  /** Returns what to log if new work is refused for another reason than at the last call, or is accepted again. */
  get news(): { readonly message: string; readonly details: Readonly<Record<string, unknown>> } | undefined {
    const { refusal } = this
    this.isOpen = refusal === undefined
    if (refusal?.code === this.#reported) return undefined
    this.#reported = refusal?.code
    if (refusal === undefined) return { message: 'new jobs are accepted again', details: {} }
    return { message: refusal.message, details: { code: refusal.code, ...refusal.details } }
  }

  /** The time after which to look again at the latest, in milliseconds. */
  get nextMs(): number {
    return this.refusal === undefined ? LIMITS.timerSliceMs : LOOK_EVERY_MS
  }

  /** Reports that a write found the disk full, and releases the room that was kept for this. Returns false if that was already done. */
  diskIsFull(now: Now): boolean {
    if (this.#diskFull) return false
    this.#diskFull = true
    this.isOpen = false
    this.#nextMono = now.mono + LOOK_EVERY_MS
    this.#care?.releaseBallast()
    return true
  }

  /** Returns the refusal for a full disk: what happened, and what to do. */
  diskFull(what: string): Refusal {
    const neededBytes = this.#care?.ballastNeedsBytes ?? 0
    const remedy =
      neededBytes === 0
        ? 'Free some space on the server: service then resumes automatically'
        : `Free some space: service resumes automatically when ${Math.ceil(neededBytes / 2 ** 20)} MiB (${neededBytes} bytes) are free`
    return {
      code: 'DISK_FULL',
      message: `${what}. ${remedy}`,
      details: { neededBytes },
    }
  }

  /** Runs before a turn. Service resumes as soon as the released room can be kept again and the log is short again. */
  look(now: Now): void {
    if (this.#nextMono > now.mono) return
    this.#nextMono = now.mono + LOOK_EVERY_MS
    if (this.#diskFull && this.#care?.restoreBallast() !== false) this.#diskFull = false
    this.#walFull = this.#care !== undefined && this.#care.walBytes() > LIMITS.walBytes && !folded(this.#care)
    if (this.#diskFull || this.#walFull) this.isOpen = false
  }
}

/** Folds the log, since there may be no commit to do it now that new work is refused. Returns true if the log is short again. */
function folded(care: FileCare): boolean {
  care.foldWal()
  return care.walBytes() <= LIMITS.walBytes
}

function walFull(): Refusal {
  return {
    code: 'STORAGE_BUSY',
    message: `a program that reads the file has kept its write-ahead log from being folded in until it grew past ${LIMITS.walBytes} bytes: new jobs are refused, running ones continue. End the long read: service then resumes automatically`,
  }
}

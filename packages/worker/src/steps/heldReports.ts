/**
 * Holds the reports that a handler makes before its first durable call, in a run after the first: an earlier run may have made them
 * from the same place. That call shows whether anything is recorded. Without it, reports are held for at most 100 ms, and at most 100 lines.
 */
import type { LogLine } from '@millrace/core'
import type { Progress } from '../handlerContext.ts'
import type { Host, Worker } from './host.ts'

const HELD_MS = 100
const HELD_LINES = 100

export class HeldReports {
  readonly #context: Pick<Host, 'addLines' | 'report'>
  readonly #link: Worker
  #lines: LogLine[] = []
  #progress: Progress | undefined
  #isOver = false
  #isBound = true
  #cancel: (() => void) | undefined

  constructor(context: Pick<Host, 'addLines' | 'report'>, link: Worker) {
    this.#context = context
    this.#link = link
  }

  /** Holds the report. Returns false if nothing is held any more. */
  take(report: LogLine | Progress): boolean {
    if (this.#isOver) return false
    if ('fraction' in report) this.#progress = report
    else this.#lines.push(report)
    if (this.#isBound) this.#cancel ??= this.#link.setTimer(HELD_MS, () => this.end(true))
    if (this.#isBound && this.#lines.length >= HELD_LINES) this.end(true)
    return true
  }

  /** Waits for the answer to the first durable call, however long that takes. */
  wait(): void {
    this.#isBound = false
    this.#cancel?.()
  }

  /** Stores what is held, or drops it. */
  end(isStored: boolean): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#cancel?.()
    if (isStored && this.#lines.length > 0) this.#context.addLines(this.#lines)
    if (isStored && this.#progress !== undefined) this.#context.report(this.#progress)
    this.#lines = []
  }
}

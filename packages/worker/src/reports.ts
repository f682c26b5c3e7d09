/** Sends progress and log lines, one report per run at a time, so that they do not pile up. */

import type { Calls } from './calls.ts'
import type { RunContext } from './context.ts'
import type { Redactor } from './redact.ts'

/** Many lines of one run leave in several calls, so that none is too large for its connection. */
const LINES_PER_CALL = 100

export class Reports {
  readonly #calls: Calls
  readonly #redactor: Redactor | undefined
  readonly #isHeld: (context: RunContext) => boolean
  /** Runs with something to report in this tick. */
  readonly #dirty = new Set<RunContext>()
  /** Runs whose last report is not answered yet. */
  readonly #underWay = new Set<RunContext>()

  /** @param isHeld true for a run that this worker holds; reports of others are dropped */
  constructor(calls: Calls, redactor: Redactor | undefined, isHeld: (context: RunContext) => boolean) {
    this.#calls = calls
    this.#redactor = redactor
    this.#isHeld = isHeld
  }

  /**
   * Notes that a run has something new, which leaves at the end of the tick, or when the last report is answered. Until
   * then the run keeps the last of it.
   */
  note(context: RunContext): void {
    if (this.#underWay.has(context) || !this.#isHeld(context)) return
    if (this.#dirty.size === 0) process.nextTick(() => this.#flush())
    this.#dirty.add(context)
  }

  /** Sends the rest of a run that has ended, before its outcome. */
  finish(context: RunContext): void {
    if (this.#dirty.delete(context) || this.#underWay.delete(context)) this.#send(context)
  }

  #flush(): void {
    for (const context of this.#dirty) {
      this.#dirty.delete(context)
      const calls = this.#send(context)
      if (calls.length === 0) continue
      this.#underWay.add(context)
      void Promise.all(calls).then(() => {
        if (this.#underWay.delete(context)) this.note(context)
      })
    }
  }

  #send(context: RunContext): Promise<unknown>[] {
    const { seq, run, name } = context.grant
    const calls: Promise<unknown>[] = []
    const progress = context.takeProgress()
    if (progress !== undefined) {
      const shown = this.#redactor?.progress(name, progress) ?? progress
      calls.push(this.#calls.call<'progress'>({ op: 'progress', seq, run, ...shown }))
    }
    const all = context.takeLines() ?? []
    for (let from = 0; from < all.length; from += LINES_PER_CALL) {
      const lines = all.slice(from, from + LINES_PER_CALL)
      calls.push(this.#calls.call<'log'>({ op: 'log', seq, run, lines: this.#redactor?.lines(name, lines) ?? lines }))
    }
    // A report that is too late for its run is no loss.
    return calls.map((call) => call.catch(() => {}))
  }
}

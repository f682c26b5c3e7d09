/** The figures of this process, which its connection to the engine reports beside what it sends anyway. */
import type { Clock, Vitals } from '@millrace/core'
import { ownClock } from './clock.ts'

/** The shortest time between two reports. */
export const REPORT_EVERY_MS = 5_000
/**
 * The time between two looks at the event loop. Each wakes the thread, for 0.2 ms at most; a single delay that is shorter may go unseen.
 * Node's own measure wakes it as well. It misses the first delay after each reset: all of a loop that is blocked from report to report.
 */
const LOOK_EVERY_MS = 500
/** The looks that a report covers at most. */
const LOOKS_MAX = 128

/** Measures the event loop of this thread and the memory of this process, between `begin` and `end`. */
export class VitalSigns {
  readonly #clock: Pick<Clock, 'read' | 'setTimer'>
  /** How late the last looks were, in milliseconds; a ring. */
  #lateMs: number[] = []
  #looks = 0
  #dueMono = 0
  #cancel: (() => void) | undefined

  constructor(clock: Pick<Clock, 'read' | 'setTimer'> = ownClock) {
    this.#clock = clock
  }

  /** Begins to measure. A report is due at once, also if it measures already: a new connection knows of no earlier one. */
  begin(): void {
    this.#dueMono = Number.NEGATIVE_INFINITY
    if (this.#cancel === undefined) this.#look()
  }

  end(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#forget()
  }

  /** Returns the figures since the last report, undefined if that is too recent or nothing is measured. */
  takeDue(nowMono: number): Vitals | undefined {
    if (this.#cancel === undefined || nowMono < this.#dueMono) return undefined
    this.#dueMono = nowMono + REPORT_EVERY_MS
    return this.take()
  }

  /** Returns the figures since the last report. The delay is missing before the first look. */
  take(): Vitals {
    const rssBytes = process.memoryUsage.rss()
    const lateMs = this.#lateMs.toSorted((one, other) => one - other)
    this.#forget()
    const delayMs = lateMs[Math.ceil(lateMs.length * 0.99) - 1]
    return delayMs === undefined ? { rssBytes } : { eventLoopDelayMs: Math.round(delayMs * 10) / 10, rssBytes }
  }

  #look(): void {
    const dueMono = this.#clock.read().mono + LOOK_EVERY_MS
    this.#cancel = this.#clock.setTimer(LOOK_EVERY_MS, () => {
      this.#lateMs[this.#looks++ % LOOKS_MAX] = Math.max(0, this.#clock.read().mono - dueMono)
      this.#look()
    })
  }

  #forget(): void {
    this.#lateMs = []
    this.#looks = 0
  }
}

/** Sends progress and log lines of a run from its thread or process, as they come; during a flood, only the newest. */
import { systemClock } from '../clock.ts'
import type { RunContext } from '../context.ts'
import type { FromRun } from './messages.ts'

/**
 * The number of reports of a run that leave at once within REPORTS_WITHIN_MS: the last ones before a handler hangs show
 * why. During a flood, only the newest leave.
 */
const REPORTS_MAX = 20
const REPORTS_WITHIN_MS = 50

export class BoundedReports {
  readonly #context: RunContext
  readonly #say: (message: FromRun) => void
  #reports = 0
  #sinceMono = 0
  #flushing = false

  constructor(context: RunContext, say: (message: FromRun) => void) {
    this.#context = context
    this.#say = say
  }

  /** Notes that the run has something new. */
  note(): void {
    const { mono } = systemClock.read()
    if (mono - this.#sinceMono >= REPORTS_WITHIN_MS) {
      this.#sinceMono = mono
      this.#reports = 0
    }
    if (this.#reports < REPORTS_MAX) {
      this.#reports++
      this.flush()
    } else if (!this.#flushing) {
      this.#flushing = true
      process.nextTick(() => {
        this.#flushing = false
        this.flush()
      })
    }
  }

  /** Sends what the run has and has not sent. */
  flush(): void {
    const progress = this.#context.takeProgress()
    if (progress !== undefined) this.#say({ kind: 'progress', progress })
    const lines = this.#context.takeLines()
    if (lines !== undefined) this.#say({ kind: 'log', lines })
  }
}

/** Logs failed attempts, since there may be no other listener. A flood is cut, and the lines left out are counted. */
import { type Clock, type FailCommand, formatId, isErrorOf, type Logger } from '@millrace/core'
import type { RunContext } from './context.ts'

const LINES_MAX = 20
const WITHIN_MS = 1_000

export class FailureLog {
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #worker: string
  #sinceMono = Number.NEGATIVE_INFINITY
  #lines = 0
  #leftOut = 0

  constructor(logger: Logger, clock: Clock, worker: string) {
    this.#logger = logger
    this.#clock = clock
    this.#worker = worker
  }

  /** Logs a warning, or for the last attempt an error with its stack. */
  tell({ grant, aborted }: Pick<RunContext, 'grant' | 'aborted'>, { error, retry, cancel }: FailCommand): void {
    // A cancelled job ends as cancelled, whatever its handler throws.
    if (cancel === true || isErrorOf(aborted, 'JobCancelledError') || !this.#mayTell()) return
    const { name, queue, attempt, maxAttempts } = grant
    const fields = { job: formatId(grant), queue, worker: this.#worker, ...this.#left() }
    const what = `${error.name}: ${error.message}`
    if (retry === false || attempt >= maxAttempts) {
      const { stack } = error
      this.#logger.error(`job '${name}' failed permanently at attempt ${attempt} of ${maxAttempts}: ${what}`, {
        ...fields,
        ...(stack !== undefined && { stack }),
      })
    } else this.#logger.warn(`job '${name}' failed at attempt ${attempt} of ${maxAttempts} and is tried again: ${what}`, fields)
  }

  #mayTell(): boolean {
    const { mono } = this.#clock.read()
    if (mono - this.#sinceMono >= WITHIN_MS) {
      this.#sinceMono = mono
      this.#lines = 0
    }
    if (this.#lines < LINES_MAX) {
      this.#lines++
      return true
    }
    this.#leftOut++
    return false
  }

  #left(): { readonly leftOut?: number } {
    const leftOut = this.#leftOut
    this.#leftOut = 0
    return leftOut === 0 ? {} : { leftOut }
  }
}

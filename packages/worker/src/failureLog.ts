/**
 * Logs failed attempts, since there may be no other listener. A flood is cut, and so are attempts that fail alike minute by minute. The lines
 * left out are counted.
 */
import { type Clock, type FailCommand, fingerprintOf, formatId, isErrorOf, type Logger } from '@millrace/core'
import type { RunContext } from './context.ts'

const LINES_MAX = 20
const WITHIN_MS = 1_000
/** The maximum number of fingerprints in a second: 1 % of a core at 20 µs each. Attempts beyond them are left out. */
const FINGERPRINTS_MAX = 500
/** The maximum number of warnings of one kind in a minute: a dead endpoint fails as often as it is tried. */
const ALIKE_MAX = 3
const ALIKE_WITHIN_MS = 60_000
/** More kinds than that are forgotten together, and begin anew. The lines left out of them are counted still. */
const KINDS_MAX = 1_000

interface Kind {
  sinceMono: number
  lines: number
  leftOut: number
}

export class FailureLog {
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #worker: string
  #sinceMono = Number.NEGATIVE_INFINITY
  #lines = 0
  #fingerprints = 0
  #leftOut = 0
  /** By queue, job name, class and message without what differs from job to job. */
  readonly #kinds = new Map<string, Kind>()

  constructor(logger: Logger, clock: Clock, worker: string) {
    this.#logger = logger
    this.#clock = clock
    this.#worker = worker
  }

  /** Logs a warning, or for the last attempt an error with its stack. */
  tell(
    { grant, aborted, attempt }: Pick<RunContext, 'grant' | 'aborted' | 'attempt'>,
    { error, retry, cancel, changed }: FailCommand,
  ): void {
    // A cancelled job ends as cancelled, whatever its handler throws.
    if (cancel === true || isErrorOf(aborted, 'JobCancelledError')) return
    const { name, queue, maxAttempts } = grant
    const isLast = changed !== true && (retry === false || attempt >= maxAttempts)
    if (!this.#mayTell(isLast)) {
      this.#leftOut++
      return
    }
    const kind = isLast ? undefined : this.#kindOf(`${queue} ${name} ${fingerprintOf(error)}`)
    if (kind !== undefined && kind.lines >= ALIKE_MAX) {
      kind.leftOut++
      return
    }
    this.#lines++
    const fields = { job: formatId(grant), queue, worker: this.#worker, ...this.#left(kind) }
    const what = `${error.name}: ${error.message}`
    if (isLast) {
      const { stack } = error
      this.#logger.error(`job '${name}' failed permanently at attempt ${attempt} of ${maxAttempts}: ${what}`, {
        ...fields,
        ...(stack !== undefined && { stack }),
      })
    } else if (changed) this.#logger.warn(`job '${name}' is tried again later, and uses no attempt: ${what}`, fields)
    else this.#logger.warn(`job '${name}' failed at attempt ${attempt} of ${maxAttempts} and is tried again: ${what}`, fields)
  }

  #kindOf(name: string): Kind {
    const { mono } = this.#clock.read()
    const known = this.#kinds.get(name)
    if (known === undefined) {
      if (this.#kinds.size >= KINDS_MAX) this.#forgetKinds()
      const kind = { sinceMono: mono, lines: 0, leftOut: 0 }
      this.#kinds.set(name, kind)
      return kind
    }
    if (mono - known.sinceMono >= ALIKE_WITHIN_MS) Object.assign(known, { sinceMono: mono, lines: 0 })
    return known
  }

  #forgetKinds(): void {
    for (const { leftOut } of this.#kinds.values()) this.#leftOut += leftOut
    this.#kinds.clear()
  }

  /** True while this second has room for a line, and for the fingerprint that it takes unless it is of a last attempt. */
  #mayTell(isLast: boolean): boolean {
    const { mono } = this.#clock.read()
    if (mono - this.#sinceMono >= WITHIN_MS) {
      this.#sinceMono = mono
      this.#lines = this.#fingerprints = 0
    }
    return this.#lines < LINES_MAX && (isLast || this.#fingerprints++ < FINGERPRINTS_MAX)
  }

  /** Takes what was left out before this line, of its kind and of all. */
  #left(kind: Kind | undefined): { readonly leftOut?: number } {
    const leftOut = this.#leftOut + (kind?.leftOut ?? 0)
    this.#leftOut = 0
    if (kind !== undefined) Object.assign(kind, { lines: kind.lines + 1, leftOut: 0 })
    return leftOut === 0 ? {} : { leftOut }
  }
}

/** The log lines that each run must have: the newest ones, as many as its job says, each with the number after the one before. */
import { LIMITS } from '@millrace/core'
import type { Effects } from '@millrace/core/kernel'
import type { History } from './history.ts'
import type { Model } from './model.ts'

/** The lines of one run. */
interface Kept {
  readonly seq: number
  readonly run: number
  next: number
  readonly numbers: Set<number>
}

export class LogBook {
  readonly #history: History
  readonly #model: Model
  readonly #runs = new Map<string, Kept>()

  constructor(history: History, model: Model) {
    this.#history = history
    this.#model = model
  }

  /** After the model. */
  commit({ logs }: Effects): void {
    for (const { seq, run, number, gone } of logs) {
      const known = this.#runs.get(`${seq} ${run}`)
      const kept = known ?? { seq, run, next: 0, numbers: new Set() }
      this.#runs.set(`${seq} ${run}`, kept)
      this.#history.hold(number === kept.next, 18, () => `run ${run} of job ${seq} logs line ${number} after ${kept.next} lines`)
      kept.next++
      kept.numbers.add(number)
      if (kept.numbers.delete(gone)) this.#history.meet('logLineGone')
      const most = this.#model.jobs.get(seq)?.logLines ?? kept.numbers.size
      const fits = kept.numbers.size === Math.min(most, kept.next)
      this.#history.hold(fits, 18, () => `run ${run} of job ${seq} keeps ${kept.numbers.size} of ${kept.next} lines, and ${most} at most`)
    }
  }

  /** @param rows of the file: the numbers of the lines of each run */
  file(rows: readonly { readonly seq: number; readonly run: number; readonly numbers: string }[]): void {
    const found = new Map(rows.map(({ seq, run, numbers }) => [`${seq} ${run}`, numbers]))
    for (const { seq, run, numbers } of this.#runs.values()) {
      const job = this.#model.jobs.get(seq)
      // The lines of runs long past are gone.
      if (job !== undefined && job.run > LIMITS.attemptsPerJob) continue
      const expected = job === undefined ? '' : [...numbers].join(',')
      const has = found.get(`${seq} ${run}`) ?? ''
      this.#history.hold(has === expected, 18, () => `run ${run} of job ${seq} has the lines ${has}, and should have ${expected}`)
    }
  }
}

/**
 * What programs that are killed again and again have said, and what must be true of it. Beside what `History` holds against them:
 * no job runs twice at the same time, which every begin and end of a run tells.
 */
import { formatId } from '@millrace/core'
import { auditFile } from '../../../packages/sqlite/src/testing/inspect.ts'
import { History } from '../crash/history.ts'
import type { Tally } from './scenario.ts'

export class Witness {
  readonly history = new History()
  /** Of the process that is heard just now: the runs that have begun and not ended, by job. */
  readonly #live = new Map<string, string>()
  readonly refusals = new Map<string, number>()
  /** Runs that were going on when their process was killed. */
  cutOff = 0
  overlaps = 0

  /** Everything that one process has said, in order; it is gone. */
  take(lines: readonly string[]): void {
    this.history.take(lines)
    for (const line of lines) {
      const [what, id, run] = line.split(' ') as [string, string, string]
      if (what === 'run') {
        const before = this.#live.get(id)
        if (before !== undefined) {
          this.overlaps++
          this.history.violations.push(`9: run ${run} of job ${id} has begun while run ${before} went on`)
        }
        this.#live.set(id, run)
      } else if (what === 'ended' && this.#live.get(id) === run) this.#live.delete(id)
      else if (what === 'refused') this.refusals.set(id, (this.refusals.get(id) ?? 0) + 1)
    }
    this.cutOff += this.#live.size
    this.#live.clear()
  }

  get acknowledged(): number {
    return this.history.enqueued.size + this.history.ended.size
  }

  /** Holds the file, which nobody has open, against what was acknowledged. */
  audit(file: string, tally: Tally, { drained }: { readonly drained: boolean }): void {
    const { problems, jobs } = auditFile(file)
    const byId = new Map(jobs.map((job) => [formatId(job), job]))
    for (const problem of problems) tally.violations.push(`7: ${problem}`)
    tally.violations.push(...this.history.violations.splice(0))
    const missing = [...this.history.enqueued].filter((id) => !byId.has(id))
    const undone = [...this.history.ended].filter(([id, state]) => byId.get(id)?.state !== state)
    tally.lost += missing.length + undone.length
    for (const id of missing.slice(0, 5)) tally.violations.push(`1: job ${id} was acknowledged, and is not there`)
    for (const [id, state] of undone.slice(0, 5)) tally.violations.push(`2: job ${id} was ${state}, and is ${byId.get(id)?.state}`)
    for (const [id, { run }] of this.history.runs) {
      const found = byId.get(id)
      if (found !== undefined && found.run < run) tally.violations.push(`10: job ${id} has run ${run}, and the file knows of ${found.run}`)
    }
    if (drained) {
      const left = jobs.filter(({ state }) => state !== 'completed' && state !== 'cancelled')
      for (const { seq, state } of left.slice(0, 5)) tally.violations.push(`20: job ${seq} is still ${state}`)
    }
  }
}

/** Counts the jobs of a flow by state. They are consecutive in the table of jobs, so no index is needed to find them. */
import { LIMITS } from '@millrace/core'
import { extrasFrom, type RawTally, type ReadFlowTally, TALLY, tallyFrom } from '@millrace/sql'
import type { Database } from '../driver.ts'

export function prepareFlowTally(db: Database): ReadFlowTally {
  const next = db.prepare('SELECT job.extras FROM job WHERE job.seq >= ? AND job.seq < ? ORDER BY job.seq LIMIT 1').pluck()
  const tally = db.prepare(`SELECT ${TALLY} FROM job WHERE job.seq >= ? AND job.seq < ?`).raw()

  /** Returns the row behind the flow's last. The steps grow, so a small flow takes one or two, and a large one takes few. */
  const endOf = (first: number, from: number): number => {
    let inside = from
    let end = first + LIMITS.jobsPerCommand
    const look = (seq: number): void => {
      const extras = next.get(seq, first + LIMITS.jobsPerCommand) as string | null | undefined
      if (extrasFrom(extras ?? null)?.flow?.first === first) inside = seq
      else end = seq
    }
    for (let step = 1; inside + step < end; step *= 2) look(inside + step)
    while (end - inside > 1) look(Math.floor((inside + end) / 2))
    return end
  }

  return (first, from) => tallyFrom(tally.get(first, endOf(first, from)) as RawTally, first)
}

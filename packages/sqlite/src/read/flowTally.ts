/** Counts the jobs of a flow by state. They are consecutive in the table of jobs, so no index is needed to find them. */

import { LIMITS, STATES } from '@millrace/core'
import type { Counts } from '@millrace/core/kernel'
import { extrasFrom } from '@millrace/sql'
import type { Database } from '../driver.ts'

export interface FlowTally {
  readonly counts: Counts
  /** The number of the first job that is kept, and of all of them. */
  readonly seq: number
  readonly jobs: number
  /** When the last of those that have ended did; 0 if none has. */
  readonly finishedAt: number
}

/** `from` is a row of the flow; the one before its first if none is known to be there. */
export type ReadFlowTally = (first: number, from: number) => FlowTally

type Raw = [seq: number | null, finishedAt: number | null, ...counts: Counts]

export function prepareFlowTally(db: Database): ReadFlowTally {
  const next = db.prepare('SELECT job.extras FROM job WHERE job.seq >= ? AND job.seq < ? ORDER BY job.seq LIMIT 1').pluck()
  const counts = STATES.map((_, code) => `count(*) FILTER (WHERE job.state = ${code})`).join(', ')
  const tally = db.prepare(`SELECT min(job.seq), max(job.finished_at), ${counts} FROM job WHERE job.seq >= ? AND job.seq < ?`).raw()

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

  return (first, from) => {
    const [seq, finishedAt, ...states] = tally.get(first, endOf(first, from)) as Raw
    return { counts: states, seq: seq ?? first, jobs: states.reduce((sum, count) => sum + count, 0), finishedAt: finishedAt ?? 0 }
  }
}

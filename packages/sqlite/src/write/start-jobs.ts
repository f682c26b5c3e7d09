/**
 * Writes hand-outs of jobs that waited and did not change otherwise. They are grouped by session, because a turn's hand-outs
 * differ in nothing else.
 */
import type { Job } from '@millrace/core/kernel'
import { prepareByRow } from '../by-row.ts'
import type { Database } from '../driver.ts'
import { expectChanges } from './expect.ts'

export function prepareStartJobs(db: Database): (jobs: readonly Job[], at: number) => void {
  // `+`: finds rows by number, never through the index of waiting jobs.
  const start = prepareByRow(
    db,
    (rows) => `UPDATE job SET state = 2, run = run + 1, session = ?, started_at = ? WHERE +state = 1 AND ${rows}`,
    2,
  )
  return (jobs, at) => {
    // Anew for each turn: one that fails must leave nothing to the next.
    const bySession = new Map<number, number[]>()
    for (const { seq, sessionId } of jobs) {
      const others = bySession.get(sessionId)
      if (others === undefined) bySession.set(sessionId, [seq])
      else others.push(seq)
    }
    for (const [session, seqs] of bySession) expectChanges('start jobs', start.run(seqs, [session, at]), seqs.length)
  }
}

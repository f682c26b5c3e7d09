/** Gives new jobs the payloads of other rows. */
import type { SortedJobs } from '@millrace/sql'
import type { Database } from '../driver.ts'
import { expectChanges } from './expect.ts'

/** Runs after inserts and updates, so that a payload is the one that its job has at the end of the turn, and before deletions. */
export function prepareCopyPayloads(db: Database): (jobs: Pick<SortedJobs, 'copies'>) => void {
  const copy = db.prepare('UPDATE job SET data = source.data FROM job AS source WHERE source.seq = ? AND job.seq = ?')
  return ({ copies }) => {
    for (const { seq, payloadOf } of copies) expectChanges('copy a payload', copy.run([payloadOf, seq]).changes, 1)
  }
}

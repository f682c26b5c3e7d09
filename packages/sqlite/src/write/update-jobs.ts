/** Writes every other change: the whole row again, without its payload if that did not change. */
import { dataOf, extrasText, type SortedJobs, type SqlValue } from '@millrace/sql'
import type { Database } from '../driver.ts'
import { bindMutable, MUTABLE_WIDTH, SET_MUTABLE } from '../tables/job.ts'
import { expectChanges } from './expect.ts'

export function prepareUpdateJobs(db: Database): (jobs: Pick<SortedJobs, 'updated' | 'dataUpdated' | 'placed'>) => void {
  const update = db.prepare(`UPDATE job SET ${SET_MUTABLE} WHERE seq = ?`)
  const updateWithData = db.prepare(`UPDATE job SET ${SET_MUTABLE}, data = ? WHERE seq = ?`)
  const row: SqlValue[] = Array(MUTABLE_WIDTH + 1).fill(null)
  const rowWithData: SqlValue[] = Array(MUTABLE_WIDTH + 2).fill(null)
  const place = db.prepare('UPDATE job SET lane = ?, policy = ?, extras = ? WHERE seq = ?')
  return ({ updated, dataUpdated, placed }) => {
    for (const job of updated) {
      bindMutable(job, row)
      row[MUTABLE_WIDTH] = job.seq
      expectChanges('update a job', update.run(row).changes, 1)
    }
    for (const job of dataUpdated) {
      bindMutable(job, rowWithData)
      rowWithData[MUTABLE_WIDTH] = dataOf(job)
      rowWithData[MUTABLE_WIDTH + 1] = job.seq
      expectChanges("update a job's payload", updateWithData.run(rowWithData).changes, 1)
    }
    for (const { lane, policy, extras, seq } of placed)
      expectChanges('move a job', place.run(lane.id, policy.text, extrasText(extras), seq).changes, 1)
  }
}

/** Every other change: the whole row anew, but for its payload where that did not change. */
import type { Job } from '@millrace/core'
import type { Database, SqlValue } from '../driver.ts'
import { expectChanges } from './expect.ts'
import { dataOf, droppingOf, extrasText, orNull } from './insert-jobs.ts'
import type { SortedJobs } from './sort.ts'

const MUTABLE =
  'state = ?, rank = ?, weight = ?, run_at = ?, run = ?, uncounted = ?, session = ?, started_at = ?, finished_at = ?, expires_at = ?, cancel_requested = ?, checkpoint = ?, progress = ?, output = ?, gate = ?, dropping = ?'

export function prepareUpdateJobs(db: Database): (jobs: Pick<SortedJobs, 'updated' | 'dataUpdated' | 'placed'>) => void {
  const update = db.prepare(`UPDATE job SET ${MUTABLE} WHERE seq = ?`)
  const updateWithData = db.prepare(`UPDATE job SET ${MUTABLE}, data = ? WHERE seq = ?`)
  const row: SqlValue[] = Array(17).fill(null)
  const rowWithData: SqlValue[] = Array(18).fill(null)
  const place = db.prepare('UPDATE job SET lane = ?, policy = ?, extras = ? WHERE seq = ?')
  return ({ updated, dataUpdated, placed }) => {
    for (const job of updated) {
      bindMutable(job, row)
      row[16] = job.seq
      expectChanges('update a job', update.run(row).changes, 1)
    }
    for (const job of dataUpdated) {
      bindMutable(job, rowWithData)
      rowWithData[16] = dataOf(job)
      rowWithData[17] = job.seq
      expectChanges("update a job's payload", updateWithData.run(rowWithData).changes, 1)
    }
    for (const { lane, policy, extras, seq } of placed)
      expectChanges('move a job', place.run(lane.id, policy.text, extrasText(extras), seq).changes, 1)
  }
}

function bindMutable(job: Job, row: SqlValue[]): void {
  row[0] = job.state
  row[1] = 0 - job.priority
  row[2] = job.weight
  row[3] = job.runAt
  row[4] = job.run
  row[5] = job.uncounted
  row[6] = orNull(job.sessionId)
  row[7] = orNull(job.startedAt)
  row[8] = orNull(job.finishedAt)
  row[9] = orNull(job.expiresAt)
  row[10] = job.cancelRequested ? 1 : 0
  row[11] = job.checkpoint
  row[12] = job.progress
  row[13] = job.output
  row[14] = job.parked?.id ?? null
  row[15] = droppingOf(job)
}

/** Removes jobs with their content: runs, logs, tags, and the unique key where they still hold it. Idempotency keys stay. */
import type { Job } from '@millrace/core'
import type { Database } from '../driver.ts'
import { expectChanges } from './expect.ts'
import type { SortedJobs } from './sort.ts'

const LISTED = '(SELECT value FROM json_each(?))'

export function prepareDeleteJobs(db: Database): (jobs: SortedJobs) => void {
  const rows = db.prepare(`DELETE FROM job WHERE seq IN ${LISTED}`)
  const attempts = db.prepare(`DELETE FROM attempt WHERE seq IN ${LISTED}`)
  const logs = db.prepare(`DELETE FROM log WHERE seq IN ${LISTED}`)
  const tag = db.prepare('DELETE FROM tag WHERE tag = ? AND seq = ?')
  const unique = db.prepare('DELETE FROM unique_key WHERE name = ? AND key = ? AND seq = ?')

  const deleteContent = (jobs: readonly Job[], list: string) => {
    attempts.run(list)
    logs.run(list)
    for (const { seq, lane, extras } of jobs) {
      if (extras === undefined) continue
      for (const name of extras.tags ?? []) tag.run(name, seq)
      if (extras.uniqueKey !== undefined) unique.run(lane.name, extras.uniqueKey, seq)
    }
  }

  return ({ deleted, vanished }) => {
    if (deleted.length > 0) {
      const list = listOf(deleted)
      expectChanges('delete jobs', rows.run(list).changes, deleted.length)
      deleteContent(deleted, list)
    }
    if (vanished.length > 0) deleteContent(vanished, listOf(vanished))
  }
}

function listOf(jobs: readonly Job[]): string {
  return JSON.stringify(jobs.map((job) => job.seq))
}

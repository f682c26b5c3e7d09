/** Removes jobs with their content: runs, logs, tags, and the unique key if they still hold it. Idempotency keys stay. */
import type { PrunedJob } from '@millrace/core/kernel'
import { prepareByRow } from '../by-row.ts'
import type { Database } from '../driver.ts'
import { blockOf } from '../tags.ts'
import { expectChanges } from './expect.ts'

export interface DeleteJobs {
  /** Removes jobs that have a row. */
  rows(jobs: readonly PrunedJob[]): void
  /** Removes the content of jobs that have no row, because they were created in the same turn. */
  content(jobs: readonly PrunedJob[]): void
}

export function prepareDeleteJobs(db: Database): DeleteJobs {
  const rowsOf = (table: string) => prepareByRow(db, (rows) => `DELETE FROM ${table} WHERE ${rows}`, 0)
  const rows = rowsOf('job')
  const attempts = rowsOf('attempt')
  const logs = rowsOf('log')
  const steps = rowsOf('step')
  const messages = rowsOf('message')
  const tag = db.prepare('DELETE FROM tag WHERE block = ? AND tag = ? AND seq = ?')
  const unique = db.prepare('DELETE FROM unique_key WHERE name = ? AND key = ? AND seq = ?')

  const content = (jobs: readonly PrunedJob[]) => {
    const seqs = jobs.map((job) => job.seq)
    attempts.run(seqs, [])
    logs.run(seqs, [])
    // Few jobs have these.
    const stepped = jobs.filter(({ extras }) => extras?.steps !== undefined).map((job) => job.seq)
    if (stepped.length > 0) steps.run(stepped, [])
    const messaged = jobs.filter(({ extras }) => extras?.kept !== undefined).map((job) => job.seq)
    if (messaged.length > 0) messages.run(messaged, [])
    for (const { seq, lane, extras } of jobs) {
      if (extras === undefined) continue
      for (const name of extras.tags ?? []) tag.run(blockOf(seq), name, seq)
      if (extras.uniqueKey !== undefined) unique.run(lane.name, extras.uniqueKey, seq)
    }
  }
  return {
    rows: (jobs) => {
      const seqs = jobs.map((job) => job.seq)
      expectChanges('delete jobs', rows.run(seqs, []), seqs.length)
      content(jobs)
    },
    content,
  }
}

/** A figure without its check does not count: the file is opened again by a plain SQLite, and every job looked at. */
import Database from 'better-sqlite3'

export function checkCompleted(file: string, name: string, jobs: number): void {
  const db = new Database(file, { readonly: true })
  const count = db
    .prepare(
      'SELECT count(*) FROM job JOIN lane ON lane.id = job.lane WHERE lane.name = ? AND job.state = 4 AND job.run = 1 AND job.uncounted = 0',
    )
    .pluck()
  const completed = count.get(name)
  if (completed !== jobs) throw new Error(`${String(completed)} of ${jobs} jobs are completed at their first attempt`)
  const integrity = db.pragma('integrity_check', { simple: true })
  if (integrity !== 'ok') throw new Error(`integrity_check: ${String(integrity)}`)
  db.close()
}

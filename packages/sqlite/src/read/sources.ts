/** Reads the positions of producers' journals, and the jobs whose ids they created. */
import type { JobRow, SourceMark } from '@millrace/core/kernel'
import type { Database } from '../driver.ts'
import { type RawRow, ROW_COLUMNS, rowFrom } from '../tables/job.ts'

// The second condition makes SQLite use the partial index.
const BY_NODE = `SELECT ${ROW_COLUMNS} FROM json_each(?) AS wanted CROSS JOIN job ON job.node = wanted.value AND job.node >= 67108864`

export function prepareSourced(db: Database): (nodes: readonly number[]) => JobRow[] {
  const statement = db.prepare(BY_NODE).raw()
  return (nodes) => (statement.all(JSON.stringify(nodes)) as RawRow[]).map(rowFrom)
}

export function prepareMarks(db: Database): (sources: readonly string[]) => SourceMark[] {
  const statement = db.prepare('SELECT uuid AS source, mark FROM json_each(?) AS wanted CROSS JOIN source ON source.uuid = wanted.value')
  return (sources) => statement.all(JSON.stringify(sources)) as SourceMark[]
}

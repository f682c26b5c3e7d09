/** Reads the positions of producers' journals, and the jobs whose ids they created. */
import type { JobRow, SourceOffset } from '@millrace/core/kernel'
import type { Database } from '../driver.ts'
import { prepareJobs } from './jobs.ts'

// The second condition makes SQLite use the partial index.
const BY_NODE = 'FROM json_each(?) AS wanted CROSS JOIN job ON job.node = wanted.value AND job.node >= 67108864'

export function prepareSourced(db: Database): (nodes: readonly number[], bytesMax?: number) => JobRow[] {
  const seqs = db.prepare(`SELECT job.seq ${BY_NODE}`).pluck()
  const jobs = prepareJobs(db)
  return (nodes, bytesMax) => jobs(seqs.all(JSON.stringify(nodes)) as number[], bytesMax)
}

export function prepareSourceOffsets(db: Database): (sources: readonly string[]) => SourceOffset[] {
  const statement = db.prepare(
    'SELECT uuid AS source, mark AS "offset" FROM json_each(?) AS wanted CROSS JOIN source ON source.uuid = wanted.value',
  )
  return (sources) => statement.all(JSON.stringify(sources)) as SourceOffset[]
}

/** Reads the jobs and edges of a page of a flow. */
import type { Store } from '@millrace/core/kernel'
import {
  prepareFlowJobs as preparePage,
  type RawEdge,
  type RawRef,
  type RawRow,
  type ReadFlowTally,
  ROW_COLUMNS_WITHOUT_DATA,
  rowFrom,
} from '@millrace/sql'
import type { Database } from '../driver.ts'

const COLUMNS = ROW_COLUMNS_WITHOUT_DATA.replace('job.checkpoint', 'NULL').replace('job.output', 'NULL')

export function prepareFlowJobs(db: Database, tally: ReadFlowTally): Store['flowJobs'] {
  const jobs = db.prepare(`SELECT ${COLUMNS} FROM job WHERE job.seq >= ? AND job.seq < ? ORDER BY job.seq`).raw()
  const edges = db
    .prepare(
      'SELECT edge.parent, edge.told FROM flow_edge AS edge INDEXED BY flow_edge_child WHERE edge.child = ? AND edge.place > ? ORDER BY edge.place LIMIT ?',
    )
    .raw()
  const refs = db
    .prepare(
      `SELECT wanted.value, ended.ref, job.extras FROM json_each(?) AS wanted
LEFT JOIN job ON job.seq = wanted.value LEFT JOIN flow_end AS ended ON ended.seq = wanted.value`,
    )
    .raw()
  const page = preparePage({
    *jobs(first, end) {
      for (const raw of jobs.iterate(first, end) as Iterable<RawRow>) yield rowFrom(raw)
    },
    edges: (placed) => placed.map(({ row, behind, count }) => (count === 0 ? [] : (edges.all(row.seq, behind, count) as RawEdge[]))),
    refs: (seqs) => refs.all(JSON.stringify(seqs)) as RawRef[],
    tally,
  })
  // A reader's statements see one moment only within a transaction. Otherwise an edge could report something that the job's row
  // does not know yet.
  return db.transaction(page)
}

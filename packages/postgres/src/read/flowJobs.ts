/** Reads the jobs and edges of a page of a flow. */
import type { Store } from '@millrace/core/kernel'
import { prepareFlowJobs as preparePage, type RawEdge, type RawRef, type ReadFlowTally } from '@millrace/sql'
import type { Connection } from '../connection.ts'
import { FLOW_JOB_ROW, jobFrom } from '../tables/job.ts'
import { columns } from '../write/batch.ts'

const JOBS = `SELECT ${FLOW_JOB_ROW} FROM job WHERE job.seq >= $1 AND job.seq < $2 ORDER BY job.seq LIMIT $3`
const EDGES = `SELECT edge.child, edge.parent, edge.told FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS asked (child, behind, count)
CROSS JOIN LATERAL (
  SELECT * FROM flow_edge WHERE flow_edge.child = asked.child AND place > asked.behind ORDER BY place LIMIT asked.count
) AS edge ORDER BY edge.child, edge.place`
const REFS = `SELECT wanted.seq, ended.ref, job.extras FROM unnest($1::bigint[]) AS wanted (seq)
LEFT JOIN job ON job.seq = wanted.seq LEFT JOIN flow_end AS ended ON ended.seq = wanted.seq`

export function prepareFlowJobs(connection: Connection, tally: ReadFlowTally): Store['flowJobs'] {
  return preparePage({
    jobs: (first, end, limit) => connection.all<unknown[]>(JOBS, first, end, limit).map(jobFrom),
    edges: (placed) => {
      const asked = placed.filter(({ count }) => count > 0)
      if (asked.length === 0) return []
      const values = columns(
        asked,
        ({ row }) => row.seq,
        ({ behind }) => behind,
        ({ count }) => count,
      )
      const found = Map.groupBy(connection.all<[child: number, ...RawEdge]>(EDGES, ...values), ([child]) => child)
      return placed.map(({ row }) => (found.get(row.seq) ?? []).map(([, parent, told]): RawEdge => [parent, told]))
    },
    refs: (seqs) => connection.all<RawRef>(REFS, seqs),
    tally,
  })
}

/** Reads a page of a flow. Its jobs are consecutive in the table of jobs, so no index is needed to find them. */
import { type FlowCursor, LIMITS } from '@millrace/core'
import type { DependencyRow, FlowJobRow, ParentOutcome } from '@millrace/core/kernel'
import { extrasFrom } from '@millrace/sql'
import type { Connection } from '../connection.ts'
import { FLOW_JOB_ROW, jobFrom } from '../tables/job.ts'
import { type FlowTally, prepareFlowTally } from './flowTally.ts'

interface Page<Row> {
  readonly rows: Row[]
  readonly next: FlowCursor | null
}

export type ReadFlowJobs = (first: number, from: FlowCursor, limit: number, edges: number) => Page<FlowJobRow> & Pick<FlowTally, 'counts'>

/** A job, and the range of its parents that is on the page. */
interface Placed extends Omit<FlowJobRow, 'parents'> {
  readonly behind: number
  readonly count: number
}

type RawEdge = [child: number, parent: number, told: ParentOutcome]
type RawRef = [seq: number, ended: string | null, extras: string | null]

const JOBS = `SELECT ${FLOW_JOB_ROW} FROM job WHERE job.seq >= $1 AND job.seq < $2 ORDER BY job.seq LIMIT $3`
const EDGES = `SELECT edge.child, edge.parent, edge.told FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS asked (child, behind, count)
CROSS JOIN LATERAL (
  SELECT * FROM flow_edge WHERE flow_edge.child = asked.child AND place > asked.behind ORDER BY place LIMIT asked.count
) AS edge ORDER BY edge.child, edge.place`
const REFS = `SELECT wanted.seq, ended.ref, job.extras FROM unnest($1::bigint[]) AS wanted (seq)
LEFT JOIN job ON job.seq = wanted.seq LEFT JOIN flow_end AS ended ON ended.seq = wanted.seq`

export function prepareFlowJobs(connection: Connection): ReadFlowJobs {
  const tallyOf = prepareFlowTally(connection)

  const placed = (first: number, from: FlowCursor, limit: number, edgesMax: number): Page<Placed> => {
    const rows: Placed[] = []
    let room = edgesMax
    const jobs = connection.all<unknown[]>(JOBS, Math.max(from.seq, first), first + LIMITS.jobsPerCommand, limit + 1).map(jobFrom)
    for (const row of jobs) {
      const { seq } = row
      const place = row.extras?.flow
      // This job was created after the flow's last job.
      if (place?.first !== first) break
      const behind = seq === from.seq ? from.place : 0
      const left = Math.max(0, place.parents - behind)
      if (rows.length > 0 && (rows.length === limit || left > room)) return { rows, next: { seq, place: 0 } }
      const count = Math.min(left, room)
      rows.push({ row, place, behind, count })
      if (count < left) return { rows, next: { seq, place: behind + count } }
      room -= count
    }
    return { rows, next: null }
  }

  return (first, from, limit, edgesMax) => {
    const { rows, next } = placed(first, from, limit, edgesMax)
    const asked = rows.filter(({ count }) => count > 0)
    const edges =
      asked.length === 0
        ? []
        : connection.all<RawEdge>(
            EDGES,
            asked.map(({ row }) => row.seq),
            asked.map(({ behind }) => behind),
            asked.map(({ count }) => count),
          )
    const told = Map.groupBy(edges, ([child]) => child)
    const refOf = new Map(rows.map(({ row, place }) => [row.seq, place.ref]))
    const others = [...new Set(edges.map(([, parent]) => parent).filter((parent) => !refOf.has(parent)))]
    for (const [seq, ended, extras] of others.length === 0 ? [] : connection.all<RawRef>(REFS, others))
      refOf.set(seq, ended ?? extrasFrom(extras)?.flow?.ref ?? '')
    const parentsOf = (seq: number) =>
      (told.get(seq) ?? []).map(([, parent, state]): DependencyRow => ({ seq: parent, ref: refOf.get(parent) ?? '', told: state }))
    return { rows: rows.map(({ row, place }) => ({ row, place, parents: parentsOf(row.seq) })), next, counts: tallyOf(first).counts }
  }
}

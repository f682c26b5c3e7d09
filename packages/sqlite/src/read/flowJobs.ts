/** Reads a page of a flow. Its jobs are consecutive in the table of jobs, so no index is needed to find them. */

import { type FlowCursor, LIMITS } from '@millrace/core'
import type { DependencyRow, FlowJobRow, ParentOutcome } from '@millrace/core/kernel'
import { extrasFrom, type RawRow, ROW_COLUMNS_WITHOUT_DATA, rowFrom } from '@millrace/sql'
import type { Database } from '../driver.ts'
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

type RawEdge = [parent: number, told: ParentOutcome]
type RawRef = [seq: number, ended: string | null, extras: string | null]

const COLUMNS = ROW_COLUMNS_WITHOUT_DATA.replace('job.checkpoint', 'NULL').replace('job.output', 'NULL')

export function prepareFlowJobs(db: Database): ReadFlowJobs {
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

  const tallyOf = prepareFlowTally(db)

  const placed = (first: number, from: FlowCursor, limit: number, edgesMax: number): Page<Placed> => {
    const rows: Placed[] = []
    let room = edgesMax
    for (const raw of jobs.iterate(Math.max(from.seq, first), first + LIMITS.jobsPerCommand) as Iterable<RawRow>) {
      const row = rowFrom(raw)
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

  // A reader's statements see one moment only within a transaction. Otherwise an edge could report something that the job's row
  // does not know yet.
  return db.transaction<ReadFlowJobs>((first, from, limit, edgesMax) => {
    const { rows, next } = placed(first, from, limit, edgesMax)
    const told = rows.map(({ row, behind, count }) => (count === 0 ? [] : (edges.all(row.seq, behind, count) as RawEdge[])))
    const refOf = new Map(rows.map(({ row, place }) => [row.seq, place.ref]))
    const others = new Set(told.flatMap((parents) => parents.map(([seq]) => seq)).filter((seq) => !refOf.has(seq)))
    for (const [seq, ended, extras] of others.size === 0 ? [] : (refs.all(JSON.stringify([...others])) as RawRef[]))
      refOf.set(seq, ended ?? extrasFrom(extras)?.flow?.ref ?? '')
    const parentsOf = (parents: RawEdge[]) =>
      parents.map(([seq, state]): DependencyRow => ({ seq, ref: refOf.get(seq) ?? '', told: state }))
    const { counts } = tallyOf(first, rows.at(-1)?.row.seq ?? first - 1)
    return { rows: rows.map(({ row, place }, index) => ({ row, place, parents: parentsOf(told[index] ?? []) })), next, counts }
  })
}

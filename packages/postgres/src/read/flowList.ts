/**
 * Reads a page of flows, newest first. The table of gates has the jobs that wait for others, and leads from one flow to the one before it.
 * So the list needs no table or index of its own, and jobs outside flows cost it nothing.
 */
import { type FlowRow, type FlowRows, type FlowsQuery, flowStateOf, type LookBound } from '@millrace/core/kernel'
import { extrasFrom } from '@millrace/sql'
import type { Connection } from '../connection.ts'
import { prepareFlowTally } from './flowTally.ts'

type RawGate = [seq: number, node: number, enqueuedAt: number, extras: string | null]

const NEWEST = `SELECT job.seq, job.node, job.enqueued_at, job.extras FROM flow_gate AS gate JOIN job ON job.seq = gate.seq
WHERE gate.seq < $1 ORDER BY gate.seq DESC LIMIT 1`

export function prepareFlowList(connection: Connection): (query: FlowsQuery, bound: LookBound) => FlowRows {
  const tallyOf = prepareFlowTally(connection)
  return ({ state, limit, before = Number.MAX_SAFE_INTEGER }, bound) => {
    const rows: FlowRow[] = []
    let looked = 0
    for (let end = before; ; ) {
      const gate = connection.get<RawGate>(NEWEST, end)
      if (gate === undefined) return { rows, next: null }
      const [from, node, enqueuedAt, extras] = gate
      const first = extrasFrom(extras)?.flow?.first ?? from
      const { counts, seq, jobs, finishedAt } = tallyOf(first)
      const is = flowStateOf(counts)
      if (state === undefined || is === state) {
        const [laneId] = connection.pluck<number>('SELECT lane FROM job WHERE seq = $1', seq)
        rows.push({ seq: first, node, enqueuedAt, laneId: laneId as number, counts, finishedAt: is === 'running' ? 0 : finishedAt })
      }
      looked += jobs
      end = first
      if (rows.length === limit || looked >= bound.rows || bound.late()) return { rows, next: first }
    }
  }
}

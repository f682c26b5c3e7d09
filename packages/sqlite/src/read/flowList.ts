/**
 * Reads a page of flows, newest first. The table of gates has the jobs that wait for others, and leads from one flow to the one before
 * it. So the list needs no table or index of its own, and jobs outside flows cost it nothing.
 */

import { type FlowRow, type FlowRows, type FlowsQuery, flowStateOf, type LookBound } from '@millrace/core/kernel'
import { extrasFrom } from '@millrace/sql'
import type { Database } from '../driver.ts'
import { prepareFlowTally } from './flowTally.ts'

type RawGate = [seq: number, node: number, enqueuedAt: number, extras: string | null]

export function prepareFlowList(db: Database): (query: FlowsQuery, bound: LookBound) => FlowRows {
  const newest = db
    .prepare(
      `SELECT job.seq, job.node, job.enqueued_at, job.extras FROM flow_gate AS gate CROSS JOIN job ON job.seq = gate.seq
WHERE gate.seq < ? ORDER BY gate.seq DESC LIMIT 1`,
    )
    .raw()
  const lane = db.prepare('SELECT job.lane FROM job WHERE job.seq = ?').pluck()
  const tallyOf = prepareFlowTally(db)

  // A reader's statements see one moment only within a transaction. Otherwise a flow could be gone between two of them.
  return db.transaction(({ state, limit, before = Number.MAX_SAFE_INTEGER }: FlowsQuery, bound: LookBound): FlowRows => {
    const rows: FlowRow[] = []
    let looked = 0
    for (let end = before; ; ) {
      const gate = newest.get(end) as RawGate | undefined
      if (gate === undefined) return { rows, next: null }
      const [from, node, enqueuedAt, extras] = gate
      const first = extrasFrom(extras)?.flow?.first ?? from
      const { counts, seq, jobs, finishedAt } = tallyOf(first, from)
      const is = flowStateOf(counts)
      if (state === undefined || is === state) {
        const laneId = lane.get(seq) as number
        rows.push({ seq: first, node, enqueuedAt, laneId, counts, finishedAt: is === 'running' ? 0 : finishedAt })
      }
      looked += jobs
      end = first
      if (rows.length === limit || looked >= bound.rows || bound.late()) return { rows, next: first }
    }
  })
}

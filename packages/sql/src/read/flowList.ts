/**
 * Reads a page of flows, newest first. The table of gates has the jobs that wait for others, and leads from one flow to the one before
 * it. So the list needs no table or index of its own, and jobs outside flows cost it nothing.
 */
import { type FlowRow, flowStateOf, type Store } from '@millrace/core/kernel'
import type { Prepare } from '../query.ts'
import { extrasFrom } from '../tables/job.ts'
import type { ReadFlowTally } from './flowTally.ts'

type RawGate = [seq: number, node: number, enqueuedAt: number, extras: string | null]

export function prepareFlowList(prepare: Prepare, tallyOf: ReadFlowTally): Store['listFlows'] {
  // CROSS JOIN makes SQLite begin with the gates.
  const newest = prepare<RawGate>(`SELECT job.seq, job.node, job.enqueued_at, job.extras FROM flow_gate AS gate CROSS JOIN job
WHERE job.seq = gate.seq AND gate.seq < ? ORDER BY gate.seq DESC LIMIT 1`)
  const lane = prepare<[laneId: number]>('SELECT job.lane FROM job WHERE job.seq = ?')
  return ({ state, limit, before = Number.MAX_SAFE_INTEGER }, bound) => {
    const rows: FlowRow[] = []
    let scanned = 0
    for (let end = before; ; ) {
      const gate = newest.get(end)
      if (gate === undefined) return { rows, next: null }
      const [from, node, enqueuedAt, extras] = gate
      const first = extrasFrom(extras)?.flow?.first ?? from
      const { counts, seq, jobs, finishedAt } = tallyOf(first, from)
      const is = flowStateOf(counts)
      if (state === undefined || is === state) {
        const [laneId] = lane.get(seq) as [laneId: number]
        rows.push({ seq: first, node, enqueuedAt, laneId, counts, finishedAt: is === 'running' ? 0 : finishedAt })
      }
      scanned += jobs
      end = first
      if (rows.length < limit && scanned < bound.rows && !bound.late(scanned)) continue
      return { rows, next: newest.get(first) === undefined ? null : first }
    }
  }
}

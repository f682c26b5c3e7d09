/** The part of the audit that is about flows: what must hold for them between two turns. */
import { COUNTER_FAILED, COUNTER_OPEN, COUNTER_PENDING, endsWithParents, hasFailed } from '../kernel/records/flowState.ts'
import { BLOCKED, CANCELLED, COMPLETED, FAILED, isFinal } from '../lifecycle.ts'
import type { MemoryStore } from './memoryStore.ts'

/** Checks that counters count what their edges record, and that this is up to date unless a notification is due. */
export function auditFlows(store: MemoryStore): void {
  const { counters, edges, due, gone, ends } = store.flows
  for (const { parent, child, told } of edges.values()) {
    const standing = store.flows.standing(parent)
    if (store.rows.has(child) && told !== standing && !due.has(parent))
      throw new Error(`job ${child} was told ${told} of job ${parent}, which is ${standing}, and nobody is to tell it`)
    if (!store.rows.has(child) && !gone.has(child)) throw new Error(`an edge leads to job ${child}, which is not there`)
  }
  for (const seq of ends.keys())
    if (store.flows.childrenOf(seq).length === 0) throw new Error(`the end of job ${seq} is kept, and nobody may ask for it`)
  for (const { seq, pending, failed, state } of counters.values()) {
    const told = store.flows.parentsOf(seq).map((edge) => edge.told)
    const counted = [told.filter((each) => each === 0).length, told.filter(hasFailed).length]
    if (`${counted}` !== `${[pending, failed]}`)
      throw new Error(`the counter of job ${seq} counts ${[pending, failed]}, its edges ${counted}`)
    const row = store.rows.get(seq)
    if (row === undefined) throw new Error(`job ${seq} has a counter and no row`)
    if (row.state === BLOCKED && state !== COUNTER_PENDING) throw new Error(`job ${seq} is blocked at a counter in state ${state}`)
    if (state === COUNTER_FAILED && row.state !== FAILED && row.state !== CANCELLED)
      throw new Error(`job ${seq} is shut out, and in state ${row.state}`)
    if (!isFinal(row.state) && row.state !== BLOCKED && state !== COUNTER_OPEN)
      throw new Error(`job ${seq} has passed a counter in state ${state}`)
    if (row.state === COMPLETED && endsWithParents(row) && failed > 0)
      throw new Error(`job ${seq} has completed after one that it waited for had failed`)
  }
}

/** Reads what a turn needs of flows: counters of jobs that may come back, and a slice of the children to notify. */

import { LIMITS } from '../../limits.ts'
import { cancels, takesBack } from '../records/flowState.ts'
import type { FlowDueRow } from '../records/rows.ts'
import type { Facts, FlowSlice } from '../state/facts.ts'
import type { Plan } from '../state/plan.ts'
import type { Tables } from '../state/tables.ts'

/** The bytes of checkpoints in one slice. The next turn reads the rest. */
const SLICE_BYTES = 16 * 2 ** 20

export function gatherFlows(plan: Plan, tables: Tables, facts: Facts): void {
  let due = 0
  plan.ask('flowDue', [LIMITS.sliceRows], (rows) => {
    due = rows.length
    gatherChildren(plan, facts, rows)
  })
  plan.ask('flowLeft', [LIMITS.sliceRows], (left) => {
    facts.flowLeft = left
    if (due === 0 && left.length === 0) tables.flowWork = false
  })
}

function gatherChildren(plan: Plan, facts: Facts, rows: readonly FlowDueRow[]): void {
  const seqs = new Set<number>()
  for (const { parent, mode, child } of rows) {
    // What was said of its cancel is said of its children, too.
    if (cancels(mode)) plan.job(parent)
    if (child?.counter === undefined) continue
    facts.addDependencies(child.counter)
    seqs.add(child.seq)
  }
  const order = [...seqs]
  if (order.length === 0) {
    sliceByParent(facts, rows, new Set())
    return
  }
  plan.ask('children', [order, SLICE_BYTES], (read) => {
    for (const row of read.rows) {
      const job = facts.rememberBare(row)
      // A job in memory may leave it while others are notified.
      facts.add(job)
      // Flows give their jobs no unique key, but a job that has joined others may have one. It takes the key again if it comes back.
      plan.takesBack(job)
    }
    const last = read.rows.at(-1)
    const unread = read.complete || last === undefined ? [] : order.slice(order.indexOf(last.seq) + 1)
    sliceByParent(facts, rows, new Set(unread))
  })
}

/** Cuts the rows by parent. What was not read is left to the next turn. */
function sliceByParent(facts: Facts, rows: readonly FlowDueRow[], unread: ReadonlySet<number>): void {
  const slices: FlowSlice[] = []
  let cut = rows.length >= LIMITS.sliceRows
  for (const { parent, mode, state, child } of rows) {
    if (child !== undefined && unread.has(child.seq)) {
      cut = true
      break
    }
    let slice = slices.at(-1)
    if (slice?.parent !== parent) {
      slice = { parent, mode, state, children: [], done: true }
      slices.push(slice)
    }
    if (child !== undefined) slice.children.push(child)
  }
  const last = slices.at(-1)
  if (cut && last !== undefined && last.children.length > 0) last.done = false
  facts.flowSlices = slices
  facts.flowBack = slices.some(({ mode }) => takesBack(mode))
}

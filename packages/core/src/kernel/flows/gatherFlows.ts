/** Reads what a turn needs of flows: counters of jobs that may come back, and a slice of the children to notify. */

import { LIMITS } from '../../limits.ts'
import type { Facts, FlowSlice } from '../facts.ts'
import type { TurnStore } from '../store.ts'
import type { Tables } from '../tables.ts'
import { takesBack } from './state.ts'

/** The bytes of checkpoints in one slice. The next turn reads the rest. */
const SLICE_BYTES = 16 * 2 ** 20

export function gatherFlows(store: TurnStore, tables: Tables, facts: Facts): void {
  if (!tables.flowWork) return
  const rows = store.flowDue(LIMITS.sliceRows)
  facts.flowLeft = store.flowLeft(LIMITS.sliceRows)
  if (rows.length === 0 && facts.flowLeft.length === 0) tables.flowWork = false
  if (rows.length === 0) return
  const seqs = new Set<number>()
  for (const { child } of rows) {
    if (child?.counter === undefined) continue
    facts.addDependencies(child.counter)
    seqs.add(child.seq)
  }
  const unread = readChildren(store, facts, [...seqs])
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

/** Returns the children that there was no room for. */
function readChildren(store: TurnStore, facts: Facts, seqs: readonly number[]): ReadonlySet<number> {
  if (seqs.length === 0) return new Set()
  const { rows, complete } = store.children(seqs, SLICE_BYTES)
  // A job in memory may leave it while others are notified.
  for (const row of rows) facts.add(facts.rememberBare(row))
  const last = rows.at(-1)
  return complete || last === undefined ? new Set() : new Set(seqs.slice(seqs.indexOf(last.seq) + 1))
}

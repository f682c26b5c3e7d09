/** The flows in a MemoryStore, as strict as a file is. */

import type { FlowCursor } from '../flowCommands.ts'
import type { Data } from '../job.ts'
import {
  DELETED,
  type DependencyCounter,
  type DueMode,
  dueMode,
  type FlowEffects,
  flowStateOf,
  NOTIFY,
  type ParentOutcome,
  takesBack,
} from '../kernel/records/flowState.ts'
import { type Counts, newCounts } from '../kernel/records/lane.ts'
import type { FlowDueRow, FlowJobRow, FlowLeftRow, FlowRow, JobRow, ParentRow } from '../kernel/records/rows.ts'
import type { FlowRows, FlowsQuery, ScanBound } from '../kernel/state/lists.ts'
import { StoreFailure } from '../kernel/state/storeFailure.ts'
import { isFinal } from '../lifecycle.ts'
import type { RunError } from '../runError.ts'
import type { MemoryStore } from './memoryStore.ts'
import { type Undo, UndoMap } from './undo.ts'

export interface StoredEdge {
  readonly parent: number
  readonly child: number
  readonly place: number
  readonly told: ParentOutcome
}

/** The part of a removed job that its children may still ask for. */
interface StoredEnd {
  readonly ref: string
  readonly state: ParentOutcome
  readonly output: Data
  readonly error: RunError | undefined
}

export class MemoryFlows {
  readonly #store: MemoryStore
  readonly counters: Map<number, DependencyCounter>
  readonly edges: Map<string, StoredEdge>
  readonly due: Map<number, { readonly after: number; readonly mode: DueMode }>
  readonly ends: Map<number, StoredEnd>
  readonly gone: Map<number, true>

  constructor(store: MemoryStore, undo: Undo) {
    this.#store = store
    this.counters = new UndoMap(undo)
    this.edges = new UndoMap(undo)
    this.due = new UndoMap(undo)
    this.ends = new UndoMap(undo)
    this.gone = new UndoMap(undo)
  }

  childrenOf(parent: number): StoredEdge[] {
    return [...this.edges.values()].filter((edge) => edge.parent === parent).sort((a, b) => a.child - b.child)
  }

  parentsOf(child: number): StoredEdge[] {
    return [...this.edges.values()].filter((edge) => edge.child === child).sort((a, b) => a.place - b.place)
  }

  /** Returns the state that children are to hear of a job. */
  standing(seq: number): ParentOutcome {
    const row = this.#store.rows.get(seq)
    if (row === undefined) return this.ends.get(seq)?.state ?? DELETED
    return isFinal(row.state) ? row.state : 0
  }

  dueRows(limit: number): FlowDueRow[] {
    const rows: FlowDueRow[] = []
    const back = [...this.due].filter(([, { mode }]) => takesBack(mode))
    for (const [parent, { after, mode }] of (back.length > 0 ? back : [...this.due]).sort(([a], [b]) => a - b)) {
      const state = this.standing(parent)
      const children = this.childrenOf(parent).filter((edge) => edge.child > after)
      if (children.length === 0) rows.push({ parent, mode, state, child: undefined })
      for (const { child: seq, told } of children) {
        const counter = this.counters.get(seq)
        rows.push({ parent, mode, state, child: { seq, reported: told, counter: counter && { ...counter } } })
      }
    }
    return rows.slice(0, limit)
  }

  leftRows(limit: number): FlowLeftRow[] {
    const rows = [...this.gone.keys()]
      .sort((a, b) => a - b)
      .flatMap((child): FlowLeftRow[] => {
        const parents = this.parentsOf(child)
        return parents.length === 0 ? [{ child, parent: undefined }] : parents.map(({ parent }) => ({ child, parent }))
      })
    return rows.slice(0, limit)
  }

  parents(child: number, after: number, limit: number, bytesMax: number): { rows: ParentRow[]; complete: boolean } {
    const rows: ParentRow[] = []
    let bytes = 0
    for (const { parent, place } of this.parentsOf(child)) {
      if (place <= after) continue
      const row = this.#store.rows.get(parent)
      const end = this.ends.get(parent)
      const output = row?.output ?? end?.output ?? null
      bytes += this.#store.sizeOf(output)
      if (rows.length > 0 && (rows.length >= limit || bytes > bytesMax)) return { rows, complete: false }
      const state = row === undefined ? (end?.state ?? DELETED) : row.state
      const error = end?.error ?? withoutStack(this.#store.lastError(parent))
      rows.push({ place, seq: parent, ref: this.#refOf(parent), state, output, error })
    }
    return { rows, complete: true }
  }

  jobs(first: number, from: FlowCursor, limit: number, edges: number): { rows: FlowJobRow[]; next: FlowCursor | null; counts: Counts } {
    return { ...this.#page(first, from, limit, edges), counts: countsOf(this.#rowsOf(first)) }
  }

  /** Returns flows that have counters, newest first. */
  list({ state, limit, before = Number.POSITIVE_INFINITY }: FlowsQuery, bound: ScanBound): FlowRows {
    const firsts = new Set([...this.counters.keys()].map((seq) => this.#store.rows.get(seq)?.extras?.flow?.first as number))
    const rows: FlowRow[] = []
    let scanned = 0
    const left = [...firsts].filter((each) => each < before).sort((a, b) => b - a)
    for (const [place, first] of left.entries()) {
      const jobs = this.#rowsOf(first)
      const counts = countsOf(jobs)
      const running = flowStateOf(counts) === 'running'
      const [{ laneId, node, enqueuedAt }] = jobs as [JobRow]
      const finishedAt = running ? 0 : Math.max(...jobs.map((job) => job.finishedAt))
      if (state === undefined || flowStateOf(counts) === state) rows.push({ seq: first, node, enqueuedAt, laneId, counts, finishedAt })
      scanned += jobs.length
      if (rows.length < limit && scanned < bound.rows && !bound.late(scanned)) continue
      return { rows, next: place === left.length - 1 ? null : first }
    }
    return { rows, next: null }
  }

  #rowsOf(first: number): JobRow[] {
    return [...this.#store.rows.values()].filter(({ extras }) => extras?.flow?.first === first).sort((a, b) => a.seq - b.seq)
  }

  #page(first: number, from: FlowCursor, limit: number, edges: number): { rows: FlowJobRow[]; next: FlowCursor | null } {
    const rows: FlowJobRow[] = []
    let room = edges
    const all = [...this.#store.rows.values()].filter(({ seq }) => seq >= from.seq).sort((a, b) => a.seq - b.seq)
    for (const row of all) {
      const place = row.extras?.flow
      if (place?.first !== first) continue
      const told = row.seq === from.seq ? from.place : 0
      const parents = this.parentsOf(row.seq).slice(told)
      if (rows.length > 0 && (rows.length === limit || parents.length > room)) return { rows, next: { seq: row.seq, place: 0 } }
      const taken = parents.slice(0, room).map(({ parent: seq, told: state }) => ({ seq, told: state, ref: this.#refOf(seq) }))
      rows.push({ row: { ...row, data: null, checkpoint: null, output: null }, place, parents: taken })
      if (taken.length < parents.length) return { rows, next: { seq: row.seq, place: told + taken.length } }
      room -= taken.length
    }
    return { rows, next: null }
  }

  #refOf(seq: number): string {
    return this.#store.rows.get(seq)?.extras?.flow?.ref ?? this.ends.get(seq)?.ref ?? ''
  }

  write(flows: FlowEffects | undefined): void {
    if (flows === undefined) return
    for (const counter of flows.counters) this.counters.set(counter.seq, { ...counter })
    for (const edge of flows.edges) this.edges.set(`${edge.parent} ${edge.child}`, { ...edge, told: 0 })
    for (const counter of flows.changed) {
      if (!this.counters.has(counter.seq)) throw broken(`job ${counter.seq} has no counter`)
      if (counter.pending < 0 || counter.failed < 0)
        throw broken(`the counter of job ${counter.seq} counts ${counter.pending} and ${counter.failed}`)
      this.counters.set(counter.seq, { ...counter })
    }
    for (const { parent, child, state } of flows.reported) {
      const edge = this.edges.get(`${parent} ${child}`)
      if (edge === undefined) throw broken(`job ${child} does not wait for job ${parent}`)
      this.edges.set(`${parent} ${child}`, { ...edge, told: state })
    }
    for (const { parent, next } of flows.progress) {
      if (!this.due.has(parent)) throw broken(`nobody is to be told of job ${parent}`)
      if (next === undefined) this.due.delete(parent)
      else this.due.set(parent, next)
    }
    for (const [parent, mode] of flows.due) this.due.set(parent, { after: 0, mode: dueMode(this.due.get(parent)?.mode ?? NOTIFY, mode) })
    for (const { seq, ref, state, keep, output } of flows.ends) {
      if (this.childrenOf(seq).length === 0) continue
      const row = this.#store.rows.get(seq)
      const error = keep === 'state' ? undefined : withoutStack(this.#store.lastError(seq))
      if (keep === 'row') this.ends.set(seq, { ref, state: row?.state as ParentOutcome, output: row?.output ?? null, error })
      else this.ends.set(seq, { ref, state, output: keep === 'state' ? null : output, error })
    }
    for (const seq of flows.gone) {
      this.counters.delete(seq)
      this.gone.set(seq, true)
    }
    for (const { parent, child } of flows.dropped) {
      this.edges.delete(`${parent} ${child}`)
      if (this.childrenOf(parent).length === 0) this.ends.delete(parent)
    }
    for (const child of flows.dropping) if (this.parentsOf(child).length === 0) this.gone.delete(child)
  }
}

function countsOf(rows: readonly JobRow[]): Counts {
  const counts = newCounts()
  for (const { state } of rows) counts[state]++
  return counts
}

/** A parent's error as its children get it. */
function withoutStack(error: RunError | undefined): RunError | undefined {
  if (error === undefined) return undefined
  const { stack: _, ...rest } = error
  return rest
}

function broken(message: string): StoreFailure {
  return new StoreFailure('broken', 'statement', message)
}

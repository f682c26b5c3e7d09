/** A lane is a job name within a queue: where waiting jobs stand in line. */
import type { StateCode } from '../lifecycle.ts'
import type { Service } from './service.ts'
import { Window } from './window.ts'

export type Counts = [number, number, number, number, number, number, number]

export interface LaneTotals {
  enqueued: number
  completed: number
  failed: number
  cancelled: number
}

/** A queue as the tables hold it: its counters are the sums of its lanes'. */
export interface Queue {
  readonly id: number
  readonly name: string
  readonly counts: Counts
  readonly totals: LaneTotals
  readonly lanes: Map<string, Lane>
}

export interface Lane {
  readonly id: number
  readonly queue: Queue
  readonly name: string
  /** Rows in each state, by state code. */
  readonly counts: Counts
  readonly totals: LaneTotals
  readonly window: Window
  /** The attached services that serve this lane; without one its window stays empty. */
  readonly services: Service[]
  /** Whether this turn has changed the counters. */
  counted: boolean
}

export function newCounts(): Counts {
  return [0, 0, 0, 0, 0, 0, 0]
}

export function newTotals(): LaneTotals {
  return { enqueued: 0, completed: 0, failed: 0, cancelled: 0 }
}

export function newQueue(id: number, name: string): Queue {
  return { id, name, counts: newCounts(), totals: newTotals(), lanes: new Map() }
}

export function newLane(id: number, queue: Queue, name: string): Lane {
  return { id, queue, name, counts: newCounts(), totals: newTotals(), window: new Window(), services: [], counted: false }
}

export function countOf(lane: { readonly counts: Counts }, state: StateCode): number {
  return lane.counts[state] as number
}

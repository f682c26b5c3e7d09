/**
 * Lanes of one queue that have jobs for a group, by the job that runs next. However many names there are, a hand-out looks at
 * few. A job that has left its lane may still stand for it until it is met, because it came before all that are left. So may a
 * turn that has passed, because turns only grow.
 */
import { IndexedHeap } from '../../heap.ts'
import type { Job } from './job.ts'
import type { Lane } from './lane.ts'
import { type InLine, runsBefore } from './window.ts'

/** A lane's first job as it was when it was last looked at. The job itself may have changed since. */
interface Place extends InLine {
  readonly lane: Lane
  priority: number
  runAt: number
  seq: number
  turn: number
  at: number
}

/** True if `a` comes first: by priority; then, if names take turns, by the longest time since their last one; then as within a lane. */
export function comesBefore(a: InLine, turnOfA: number, b: InLine, turnOfB: number): boolean {
  return a.priority === b.priority && turnOfA !== turnOfB ? turnOfA < turnOfB : runsBefore(a, b)
}

export class ReadyLanes {
  readonly #places = new Map<Lane, Place>()
  readonly #heap = new IndexedHeap<Place>(
    (a, b) => comesBefore(a, a.turn, b, b.turn),
    (place, at) => {
      place.at = at
    },
  )

  has(lane: Lane): boolean {
    return this.#places.has(lane)
  }

  /** Returns the lanes in no order. Some may have run dry, or be paused. */
  lanes(): IterableIterator<Lane> {
    return this.#places.keys()
  }

  /** Adds a lane that has jobs again, or another first job. */
  add(lane: Lane): void {
    const { first } = lane.window
    if (first === undefined) return
    const place = this.#places.get(lane)
    if (place === undefined) {
      const { priority, runAt, seq } = first
      const added = { lane, priority, runAt, seq, turn: lane.turn, at: -1 }
      this.#places.set(lane, added)
      this.#heap.push(added)
    } else if (comesBefore(first, lane.turn, place, place.turn)) this.#move(place, first)
  }

  /** Reorders the lanes when their names start or stop taking turns. */
  reorder(): void {
    for (const place of this.#places.values()) this.#move(place, place.lane.window.first ?? place)
  }

  /**
   * Returns the job that runs next, of any lane. Lanes that have run dry or are paused are removed when they are met. A lone
   * lane, as most queues have, has no other to compare with: its place stays as it was.
   */
  first(): Job | undefined {
    for (let place = this.#heap.peek(); place !== undefined; place = this.#heap.peek()) {
      const { lane, priority, runAt, seq, turn } = place
      const { first } = lane.window
      if (first === undefined || lane.paused) {
        this.#heap.removeAt(place.at)
        this.#places.delete(lane)
      } else if (this.#heap.size === 1) return first
      else if (first.seq === seq && first.runAt === runAt && first.priority === priority && lane.turn === turn) return first
      else this.#move(place, first)
    }
    return undefined
  }

  #move(place: Place, { priority, runAt, seq }: InLine): void {
    place.priority = priority
    place.runAt = runAt
    place.seq = seq
    place.turn = place.lane.turn
    this.#heap.update(place.at)
  }
}

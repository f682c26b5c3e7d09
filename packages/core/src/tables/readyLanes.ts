/**
 * Lanes of one queue that have jobs for a service, by the job that runs next: however many names there are, a hand-out looks at few. A job
 * that has left its lane may still stand for it until it is met, for it was to run before all that are left; so may a turn that has passed,
 * because turns only grow.
 */
import { IndexedHeap } from '../heap.ts'
import type { Job } from '../job.ts'
import type { Lane } from './lane.ts'
import { type InLine, runsBefore } from './window.ts'

/** What a lane's first job was when it was last looked at: the job itself may have changed since. */
interface Place extends InLine {
  readonly lane: Lane
  priority: number
  runAt: number
  seq: number
  turn: number
  at: number
}

/** Priority first; then the name whose last turn is longest ago, where names take turns; then as within a lane. */
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

  /** In no order; some may have run dry, or be paused. */
  lanes(): IterableIterator<Lane> {
    return this.#places.keys()
  }

  /** The lane has jobs again, or another one is its first. */
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

  /** Names take turns from now on, or take none any more. */
  reorder(): void {
    for (const place of this.#places.values()) this.#move(place, place.lane.window.first ?? place)
  }

  /**
   * The job that runs next, of any lane; lanes that have run dry or are paused are taken out when they are met. A lone lane, as most queues
   * have, has nobody to be held against: its place stays where it was.
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

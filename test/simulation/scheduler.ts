/** Virtual time: what is to happen, in order. Nothing happens but from here, so that a seed tells all. */
import type { Clock, Now } from '@millrace/core'
import { IndexedHeap } from '@millrace/core'

interface Event {
  readonly atMono: number
  readonly order: number
  readonly work: () => void
  place: number
}

export class Scheduler {
  mono = 0
  /** The wall clock's lead over the monotonic one; faults make it jump. */
  wallLead: number
  events = 0
  #order = 0
  readonly #heap = new IndexedHeap<Event>(
    (a, b) => a.atMono < b.atMono || (a.atMono === b.atMono && a.order < b.order),
    (event, place) => {
      event.place = place
    },
  )

  constructor(wall: number) {
    this.wallLead = wall
  }

  get wall(): number {
    return Math.floor(this.wallLead + this.mono)
  }

  after(ms: number, work: () => void): () => void {
    const event = { atMono: this.mono + Math.max(0, ms), order: this.#order++, work, place: -1 }
    this.#heap.push(event)
    return () => {
      if (event.place >= 0) this.#heap.removeAt(event.place)
    }
  }

  /** A clock of a process; one that drifts runs so much faster. Timers of the frozen wait until `alive` says so. */
  clock({ drift = 1, frozenMs = () => 0 }: { readonly drift?: number; readonly frozenMs?: () => number } = {}): Clock {
    const read = (): Now => ({ wall: this.wall, mono: this.mono * drift })
    return {
      read,
      setTimer: (ms, wake) => {
        let cancel = () => {}
        const ring = () => {
          const frozen = frozenMs()
          if (frozen > 0) cancel = this.after(frozen, ring)
          else wake()
        }
        cancel = this.after(Math.min(ms, 2 ** 40) / drift, ring)
        return () => cancel()
      },
    }
  }

  /** Runs what is due until then, or until `stop` says so; answers whether it did. */
  async run(untilMono: number, stop: () => boolean = () => false): Promise<boolean> {
    for (let event = this.#heap.peek(); event !== undefined && event.atMono <= untilMono; event = this.#heap.peek()) {
      this.#heap.removeAt(event.place)
      this.mono = Math.max(this.mono, event.atMono)
      this.events++
      event.work()
      await settled()
      if (stop()) return true
    }
    this.mono = Math.max(this.mono, untilMono)
    return stop()
  }
}

/** All that was set off in microtasks and ticks has run: they come before the next thing of the event loop. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

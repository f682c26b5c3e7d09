/** Virtual time: what is to happen, in order. Nothing happens but from here, so that a seed tells all. */
import { type Clock, IndexedHeap, type Now } from '@millrace/core'

interface Happening {
  readonly atMono: number
  readonly order: number
  readonly work: () => void
  place: number
}

export interface Pace {
  /** How much faster than true time the clock runs. */
  readonly drift: number
  /** Milliseconds for which nothing of the process moves. */
  readonly frozenMs: () => number
}

const STEADY: Pace = { drift: 1, frozenMs: () => 0 }

export class Timeline {
  mono = 0
  /** When all stood still for the last time, until it went on. */
  stalledUntil = -1
  happened = 0
  /** What the wall clock has ahead of the monotonic one: a jump changes it. */
  #lead: number
  #highest: number
  #order = 0
  readonly #heap = new IndexedHeap<Happening>(
    (a, b) => a.atMono < b.atMono || (a.atMono === b.atMono && a.order < b.order),
    (happening, place) => {
      happening.place = place
    },
  )

  constructor(wall: number) {
    this.#lead = wall
    this.#highest = wall
  }

  get wall(): number {
    const wall = Math.floor(this.#lead + this.mono)
    if (wall > this.#highest) this.#highest = wall
    return wall
  }

  /** The latest time that the wall clock has ever shown: what was due then is due, however it was set since. */
  get highestWall(): number {
    return Math.max(this.#highest, this.wall)
  }

  jump(ms: number): void {
    this.#highest = this.highestWall
    this.#lead += ms
  }

  /** Sets the wall clock to the latest time it has shown, as when somebody sets it right at last. */
  setRight(): void {
    this.jump(this.highestWall - this.wall)
  }

  /** Time passes within whatever happens just now. */
  stall(ms: number): void {
    this.mono += ms
    this.stalledUntil = this.mono
  }

  /** Whether all that was due before has happened: others' timers that came due within a stall are still to fire. */
  caughtUp(mono: number): boolean {
    return (this.#heap.peek()?.atMono ?? Number.POSITIVE_INFINITY) >= mono
  }

  after(ms: number, work: () => void): () => void {
    const happening = { atMono: this.mono + Math.max(0, ms), order: this.#order++, work, place: -1 }
    this.#heap.push(happening)
    return () => {
      if (happening.place >= 0) this.#heap.removeAt(happening.place)
    }
  }

  clock({ drift, frozenMs }: Pace = STEADY): Clock {
    const read = (): Now => ({ wall: this.wall, mono: this.mono * drift })
    const clock: Clock = {
      read,
      setTimer: (ms, wake) => {
        let cancel = () => {}
        const ring = () => {
          const frozen = frozenMs()
          if (frozen === Number.POSITIVE_INFINITY) return
          if (frozen > 0) cancel = this.after(frozen, ring)
          else wake()
        }
        cancel = this.after(Math.min(ms, 2 ** 40) / drift, ring)
        return () => cancel()
      },
      // Behind all that happens at this instant.
      afterTurn: (work) => void clock.setTimer(0, work),
    }
    return clock
  }

  /** Lets all happen that is due until then, or until `stop` says so after one of them. */
  async run(untilMono: number, stop: () => boolean): Promise<void> {
    for (let next = this.#heap.peek(); next !== undefined && next.atMono <= untilMono; next = this.#heap.peek()) {
      this.#heap.removeAt(next.place)
      this.mono = Math.max(this.mono, next.atMono)
      this.happened++
      next.work()
      await settled()
      if (stop()) return
    }
    this.mono = Math.max(this.mono, untilMono)
  }
}

const { nextTick } = process
let ticks = 0
process.nextTick = (work: (...args: unknown[]) => void, ...args: unknown[]) => {
  ticks++
  nextTick(work, ...args)
}

/**
 * All that was set off in microtasks and ticks has run. A tick comes when no microtask is left: if none was asked for since the one
 * before, there is nothing more. A turn of the event loop would say the same, and cost several times as much.
 */
async function settled(): Promise<void> {
  for (let before = -1; before !== ticks; ) {
    before = ticks
    await new Promise<void>((resolve) => nextTick(resolve))
  }
}

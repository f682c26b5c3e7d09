/** The pauses that end by themselves, by the time of their ends. A pause without an end is not among them. */
import { IndexedHeap } from '../../heap.ts'
import type { PausePart } from '../../pausePart.ts'
import type { Queue } from './lane.ts'

/** A pause holds a queue, or one name or key in it. */
export interface PausePlace {
  readonly queue: Queue
  readonly part: PausePart
  /** The name or the key; empty for the whole queue. */
  readonly what: string
}

interface PauseEnd extends PausePlace {
  /** Wall time. */
  readonly until: number
  at: number
}

export class PauseEnds {
  readonly #byQueue = new Map<Queue, Map<string, PauseEnd>>()
  readonly #byTime = new IndexedHeap<PauseEnd>(
    (a, b) => a.until < b.until,
    (end, at) => {
      end.at = at
    },
  )

  /** The time of the next end; 0 for none. */
  nextAt = 0

  due(wall: number): PausePlace | undefined {
    const end = this.#byTime.peek()
    return end !== undefined && end.until <= wall ? end : undefined
  }

  /** Returns when the pause of a place ends; 0 if no end is set. */
  until({ queue, part, what }: PausePlace): number {
    return this.#byQueue.get(queue)?.get(`${part} ${what}`)?.until ?? 0
  }

  /** Returns the ends of a queue's pauses, in no order. */
  of(queue: Queue): Iterable<PauseEnd> {
    return this.#byQueue.get(queue)?.values() ?? []
  }

  /** Sets the end of a pause; 0 removes it. */
  set({ queue, part, what }: PausePlace, until: number): void {
    const ends = this.#byQueue.get(queue) ?? new Map<string, PauseEnd>()
    const text = `${part} ${what}`
    const before = ends.get(text)
    if (before !== undefined) this.#byTime.removeAt(before.at)
    ends.delete(text)
    if (until > 0) {
      const end = { queue, part, what, until, at: -1 }
      ends.set(text, end)
      this.#byTime.push(end)
    }
    if (ends.size === 0) this.#byQueue.delete(queue)
    else this.#byQueue.set(queue, ends)
    this.#noteNext()
  }

  /** Forgets a queue that was deleted. */
  forget(queue: Queue): void {
    for (const { at } of this.of(queue)) this.#byTime.removeAt(at)
    this.#byQueue.delete(queue)
    this.#noteNext()
  }

  #noteNext(): void {
    this.nextAt = this.#byTime.peek()?.until ?? 0
  }
}

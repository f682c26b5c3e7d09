/** The queues that a session names, by whole names and by prefixes, and their places in its order. */
import { prefixOf } from '../../options/queuePattern.ts'

export class ServedQueues {
  readonly #names = new Map<string, number>()
  readonly #prefixes: (readonly [prefix: string, place: number])[] = []

  constructor(patterns: readonly string[]) {
    for (const [place, pattern] of patterns.entries()) {
      const prefix = prefixOf(pattern)
      if (prefix === undefined) this.#names.set(pattern, place)
      else this.#prefixes.push([prefix, place])
    }
  }

  /** Returns the place of the first pattern that stands for the queue; undefined if none does. */
  placeOf(queue: string): number | undefined {
    const named = this.#names.get(queue)
    const first = this.#prefixes.find(([prefix]) => queue.startsWith(prefix))?.[1]
    return named === undefined || first === undefined ? (named ?? first) : Math.min(named, first)
  }
}

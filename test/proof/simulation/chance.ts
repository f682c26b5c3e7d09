/** Draws from one repeatable source. */
import { seededRandom } from '@millrace/testkit/internal'

export class Chance {
  readonly random: () => number

  constructor(seed: number) {
    this.random = seededRandom(seed)
    // Neighbouring seeds begin alike.
    for (let draw = 0; draw < 8; draw++) this.random()
  }

  /** Whether something of that probability happens. */
  hits(probability: number): boolean {
    return probability > 0 && this.random() < probability
  }

  /** A whole number, both ends included. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.random() * (most - least + 1))
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.random() * items.length)] as T
  }

  /** Mostly small, `most` at the most. */
  small(most: number): number {
    return Math.floor(this.random() ** 2 * (most + 1))
  }
}

/**
 * Packs numbers for a MessageChannel. Structured clone spends about 70 ns on each value of an array, but copies a typed
 * array as one block. So numbers travel in a column. A block has a price of its own: a lone job, which sends a few
 * numbers at a time, took 6 % longer by blocks, so a few travel as a plain array.
 */
export type Numbers = Float64Array | readonly number[]

/** Up to this many numbers travel as a plain array; more go as one Float64Array. */
const FEW = 16

/** Collects numbers in order; reused from message to message. */
export class NumberColumn {
  #numbers = new Float64Array(1_024)
  #length = 0

  push(value: number): void {
    if (this.#length === this.#numbers.length) {
      const wider = new Float64Array(this.#numbers.length * 2)
      wider.set(this.#numbers)
      this.#numbers = wider
    }
    this.#numbers[this.#length++] = value
  }

  /** Returns the collected numbers, and empties the column. */
  take(): Numbers {
    const length = this.#length
    this.#length = 0
    if (length <= FEW) return this.#few(length)
    const taken = this.#numbers.slice(0, length)
    // One large message is no reason to keep a large buffer.
    if (this.#numbers.length > KEPT_MAX) this.#numbers = new Float64Array(1_024)
    return taken
  }

  #few(length: number): number[] {
    const taken: number[] = []
    for (let index = 0; index < length; index++) taken.push(this.#numbers[index] as number)
    return taken
  }
}

const KEPT_MAX = 65_536

/** Reads a column in the order in which it was written. */
export class NumberReader {
  readonly #numbers: Numbers
  #next = 0

  constructor(numbers: Numbers) {
    this.#numbers = numbers
  }

  get done(): boolean {
    return this.#next >= this.#numbers.length
  }

  take(): number {
    return this.#numbers[this.#next++] as number
  }
}

/**
 * A map from whole numbers (0 or more) for what comes and goes all the time, such as calls on their way. A built-in Map that is added to
 * and deleted from makes itself a new table again and again, and the one that it leaves points to its successor: once a full collection has
 * aged one of them, all that follow stay in memory, with everything they held, until the next. 500 calls in flight kept 17 MB so.
 */
export class NumberMap<V> {
  /** The key at each place; NONE if it is free. An entry lies at its home, or behind it with nothing free between. */
  #keys: number[] = []
  #values: (V | undefined)[] = []
  #size = 0
  /** The most there were at a time, and how many have gone, since it was last asked whether all these places are needed. */
  #most = 0
  #gone = 0
  /** The number of bits by which a hash of 32 bits is shifted to give a home. */
  #shift = 0

  constructor() {
    this.#resize(PLACES_MIN)
  }

  get size(): number {
    return this.#size
  }

  get(key: number): V | undefined {
    const place = this.#find(key)
    return place < 0 ? undefined : this.#values[place]
  }

  has(key: number): boolean {
    return this.#find(key) >= 0
  }

  set(key: number, value: V): void {
    if (!(key >= 0)) throw new RangeError(`a key must be a whole number of 0 or more, got ${key}`)
    const place = this.#find(key)
    if (place >= 0) {
      this.#values[place] = value
      return
    }
    if ((this.#size + 1) * 2 > this.#keys.length) this.#resize(this.#keys.length * 2)
    this.#put(key, value)
    this.#size++
    if (this.#size > this.#most) this.#most = this.#size
  }

  /** Returns true if the key was present. */
  delete(key: number): boolean {
    const place = this.#find(key)
    if (place < 0) return false
    this.#free(place)
    this.#size--
    // Not at once: calls that are answered together leave all their places, and their successors are here in a moment.
    if (++this.#gone >= this.#keys.length) this.#fit()
    return true
  }

  clear(): void {
    this.#size = 0
    this.#most = 0
    this.#gone = 0
    this.#keys = []
    this.#values = []
    this.#resize(PLACES_MIN)
  }

  /** All of them as they are now, in no promised order. */
  values(): V[] {
    return this.#values.filter((_value, place) => this.#keys[place] !== NONE) as V[]
  }

  #home(key: number): number {
    return Math.imul(key, GOLDEN) >>> this.#shift
  }

  /** The place of the key, or -1. */
  #find(key: number): number {
    const keys = this.#keys
    const mask = keys.length - 1
    for (let place = this.#home(key); ; place = (place + 1) & mask) {
      const found = keys[place]
      if (found === NONE) return -1
      if (found === key) return place
    }
  }

  #put(key: number, value: V): void {
    const mask = this.#keys.length - 1
    let place = this.#home(key)
    while (this.#keys[place] !== NONE) place = (place + 1) & mask
    this.#keys[place] = key
    this.#values[place] = value
  }

  /** Moves the entries behind it up, unless that would put them before their home. */
  #free(place: number): void {
    const keys = this.#keys
    const values = this.#values
    const mask = keys.length - 1
    let hole = place
    for (let next = (hole + 1) & mask; keys[next] !== NONE; next = (next + 1) & mask) {
      const key = keys[next] as number
      if (((next - this.#home(key)) & mask) < ((next - hole) & mask)) continue
      keys[hole] = key
      values[hole] = values[next]
      hole = next
    }
    keys[hole] = NONE
    values[hole] = undefined
  }

  /** As many places have been left as there are; half of them are enough if few were ever taken. */
  #fit(): void {
    if (this.#most * 8 < this.#keys.length && this.#keys.length > PLACES_MIN) this.#resize(this.#keys.length / 2)
    this.#most = this.#size
    this.#gone = 0
  }

  #resize(places: number): void {
    const [keys, values] = [this.#keys, this.#values]
    this.#keys = new Array<number>(places).fill(NONE)
    this.#values = new Array<V | undefined>(places).fill(undefined)
    this.#shift = Math.clz32(places - 1)
    for (const [place, key] of keys.entries()) if (key !== NONE) this.#put(key, values[place] as V)
  }
}

const NONE = -1
const PLACES_MIN = 16
/** 2^32 by the golden ratio: neighbours come to lie far apart. */
const GOLDEN = 0x9e3779b1

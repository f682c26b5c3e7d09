/**
 * A binary heap that knows no domain. Each item remembers its place through `setPlace`, so removal from the middle is
 * O(log n); every write to the array goes through `#put`, so a remembered place cannot drift.
 */
export class IndexedHeap<T> {
  readonly #items: T[] = []
  readonly #less: (a: T, b: T) => boolean
  readonly #setPlace: (item: T, place: number) => void

  constructor(less: (a: T, b: T) => boolean, setPlace: (item: T, place: number) => void) {
    this.#less = less
    this.#setPlace = setPlace
  }

  get size(): number {
    return this.#items.length
  }

  peek(): T | undefined {
    return this.#items[0]
  }

  push(item: T): void {
    this.#items.push(item)
    this.#rise(this.#items.length - 1, item)
  }

  /** Removes the item at a place that it was told through `setPlace`; its place becomes -1. */
  removeAt(place: number): void {
    const removed = this.#items[place]
    if (removed === undefined) throw new RangeError(`heap has no place ${place}`)
    const last = this.#items.pop() as T
    if (removed !== last) this.#settle(place, last)
    this.#setPlace(removed, -1)
  }

  /** Restores the order after the key of the item at `place` has changed. */
  update(place: number): void {
    const item = this.#items[place]
    if (item === undefined) throw new RangeError(`heap has no place ${place}`)
    this.#settle(place, item)
  }

  /** Items in no promised order. */
  values(): IterableIterator<T> {
    return this.#items.values()
  }

  #settle(place: number, item: T): void {
    const parent = (place - 1) >> 1
    if (place > 0 && this.#less(item, this.#items[parent] as T)) this.#rise(place, item)
    else this.#sink(place, item)
  }

  #rise(from: number, item: T): void {
    let place = from
    while (place > 0) {
      const parent = (place - 1) >> 1
      const above = this.#items[parent] as T
      if (!this.#less(item, above)) break
      this.#put(place, above)
      place = parent
    }
    this.#put(place, item)
  }

  #sink(from: number, item: T): void {
    const size = this.#items.length
    let place = from
    for (;;) {
      let child = 2 * place + 1
      if (child >= size) break
      if (child + 1 < size && this.#less(this.#items[child + 1] as T, this.#items[child] as T)) child++
      const below = this.#items[child] as T
      if (!this.#less(below, item)) break
      this.#put(place, below)
      place = child
    }
    this.#put(place, item)
  }

  #put(place: number, item: T): void {
    this.#items[place] = item
    this.#setPlace(item, place)
  }
}

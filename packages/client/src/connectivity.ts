/** Tracks whether the far side can be waited for, and notifies listeners when it cannot. */
export class Connectivity {
  readonly #listeners = new Set<() => void>()
  #away = false

  /** True if the far side is out of reach for an unknown time, or has ended. */
  get away(): boolean {
    return this.#away
  }

  /** Calls the listener whenever the far side goes away, and at once if it is away now. Returns a function that ends this. */
  whenAway(listener: () => void): () => void {
    this.#listeners.add(listener)
    if (this.#away) listener()
    return () => void this.#listeners.delete(listener)
  }

  lost(): void {
    this.#away = true
    for (const listener of this.#listeners) listener()
  }

  regained(): void {
    this.#away = false
  }
}

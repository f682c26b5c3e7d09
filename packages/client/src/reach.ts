/** Whether the far side may be waited for, and who is to hear when it may not. */
export class Reach {
  readonly #listeners = new Set<() => void>()
  #away = false

  /** Out of reach for a time that nobody knows, or ended. */
  get away(): boolean {
    return this.#away
  }

  /** Calls the listener whenever it goes away, and at once where it is away by now; what is answered ends that. */
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

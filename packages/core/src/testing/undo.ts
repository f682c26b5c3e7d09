/** Takes back what a write has changed, so that a MemoryStore keeps all of a turn or nothing of it. */

export class Undo {
  #steps: (() => void)[] | undefined

  /** Runs `write`. If it throws, all that was noted meanwhile is taken back. */
  whole(write: () => void): void {
    this.#steps = []
    try {
      write()
    } catch (error) {
      for (const step of this.#steps.toReversed()) step()
      throw error
    } finally {
      this.#steps = undefined
    }
  }

  note(step: () => void): void {
    this.#steps?.push(step)
  }
}

/** A map whose changes can be taken back. */
export class UndoMap<K, V> extends Map<K, V> {
  readonly #undo: Undo

  constructor(undo: Undo) {
    super()
    this.#undo = undo
  }

  override set(key: K, value: V): this {
    this.#noteBefore(key)
    return super.set(key, value)
  }

  override delete(key: K): boolean {
    if (this.has(key)) this.#noteBefore(key)
    return super.delete(key)
  }

  #noteBefore(key: K): void {
    const before = this.get(key) as V
    const restore = this.has(key) ? () => void super.set(key, before) : () => void super.delete(key)
    this.#undo.note(restore)
  }
}

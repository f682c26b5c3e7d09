/** Gives the thread to other requests between the chunks of many streams: a number of chunks, and then everything else. */
import { soon } from './clock.ts'
import { BOUNDS } from './limits.ts'

export class Pace {
  #waiting: (() => void)[] = []
  #woken = false

  /** Resolves when it is this chunk's turn. */
  turn(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      if (this.#woken) return
      this.#woken = true
      soon(this.#wake)
    })
  }

  readonly #wake = (): void => {
    for (const resolve of this.#waiting.splice(0, BOUNDS.chunksAtOnce)) resolve()
    this.#woken = this.#waiting.length > 0
    if (this.#woken) soon(this.#wake)
  }
}

/**
 * Requests that are read in one go of the event loop act in one tick: what they ask of the engine leaves in one post, and is one turn and
 * one commit there. Nobody waits for a time: only until the sockets that have something to say were read.
 */
export class Together {
  #next: Promise<void> | undefined

  join(): Promise<void> {
    this.#next ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#next = undefined
        resolve()
      })
    })
    return this.#next
  }
}

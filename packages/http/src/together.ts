/**
 * Lets requests that are read in one round of the event loop act in one tick. Their commands to the engine leave in one post,
 * and are one turn and one commit there. There is no fixed wait: only until the sockets that have data were read.
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

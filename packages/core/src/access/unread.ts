/**
 * The bytes that all clients of a server together have yet to read. Beyond a budget the client with the most loses its connection: one that
 * is stuck, if there is one.
 */

export interface Reader {
  /** The number of bytes that were sent and have yet to leave this process. */
  readonly unreadBytes: number
  /** True if it has read nothing for a while. */
  readonly stuck?: boolean
  /** Closes its connection at once, with all that it has not read. */
  crowdOut(): void
}

export class Unread {
  readonly #budgetBytes: number
  /** The readers with unread bytes, and their number at the last check. */
  readonly #seen = new Map<Reader, number>()
  #bytes = 0

  constructor(budgetBytes: number) {
    this.#budgetBytes = budgetBytes
  }

  /** The exact number now. */
  get bytes(): number {
    for (const [reader, before] of this.#seen) this.#note(reader, before)
    return this.#bytes
  }

  /** Called when a reader was sent something, has read something, or is gone and has nothing unread any more. */
  look(reader: Reader): void {
    this.#note(reader, this.#seen.get(reader) ?? 0)
    // The numbers seen before may be smaller by now.
    if (this.#bytes > this.#budgetBytes) while (this.bytes > this.#budgetBytes) this.#closeGreediest()
  }

  #note(reader: Reader, before: number): void {
    const { unreadBytes } = reader
    this.#bytes += unreadBytes - before
    if (unreadBytes > 0) this.#seen.set(reader, unreadBytes)
    else this.#seen.delete(reader)
  }

  #closeGreediest(): void {
    let greediest: Reader | undefined
    let most = 0
    for (const [reader, bytes] of this.#seen) {
      const isWorse = greediest === undefined || (reader.stuck ?? false) === (greediest.stuck ?? false) ? bytes > most : reader.stuck
      if (!isWorse) continue
      greediest = reader
      most = bytes
    }
    if (greediest === undefined) return
    this.#bytes -= most
    this.#seen.delete(greediest)
    greediest.crowdOut()
  }
}

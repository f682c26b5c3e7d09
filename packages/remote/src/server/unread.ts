/** What the clients of a server have been told and have not read, all together. Beyond a budget the greediest of them loses its connection. */

export interface Reader {
  /** Told, and not taken from here yet. */
  readonly unreadBytes: number
  /** Its connection is closed at once, with all that it has not read. */
  crowdOut(): void
}

export class Unread {
  readonly #budgetBytes: number
  /** Those with anything unread, and how much it was when it was last looked at. */
  readonly #seen = new Map<Reader, number>()
  #bytes = 0

  constructor(budgetBytes: number) {
    this.#budgetBytes = budgetBytes
  }

  /** Exactly, now. */
  get bytes(): number {
    for (const [reader, before] of this.#seen) this.#note(reader, before)
    return this.#bytes
  }

  /** It was told something, has read something, or is gone and has nothing unread any more. */
  look(reader: Reader): void {
    this.#note(reader, this.#seen.get(reader) ?? 0)
    // What was seen may be less by now.
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
      if (bytes <= most) continue
      greediest = reader
      most = bytes
    }
    if (greediest === undefined) return
    this.#bytes -= most
    this.#seen.delete(greediest)
    greediest.crowdOut()
  }
}

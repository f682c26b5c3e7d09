/**
 * Counts the owners that begin to decide an entry. One that makes a turn longer than the server's patience costs its owner the schema, and the
 * next owner would read it again, for ever. Only entries that a former owner can have met are counted, so that others cost nothing.
 */
import type { Connection } from '../connection.ts'

/** After so many owners, an entry is set aside unread. */
export const TRIES_MAX = 2

export type Waiting = readonly [id: number, bytes: number, tries: number]

export class Tries {
  readonly #connection: Connection
  /** The last entry that a former owner can have met; undefined until it is known. */
  #last: number | undefined
  #trying: readonly number[] = []
  /** Entries that have had their turn, and wait for room. */
  readonly #harmless = new Set<number>()

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Returns those of the entries that may be decided in one turn: one alone if it has taken an owner with it. */
  begin(waiting: readonly Waiting[]): readonly Waiting[] {
    const isCounted = ([id]: Waiting) => id <= this.#lastId() && !this.#harmless.has(id)
    this.end()
    const suspect = waiting.find((entry) => isCounted(entry) && entry[2] > 0)
    const found = suspect === undefined ? waiting : [suspect]
    this.#trying = found.flatMap((entry) => (isCounted(entry) && entry[2] < TRIES_MAX ? [entry[0]] : []))
    if (this.#trying.length > 0) this.#set('tries + 1', this.#trying)
    return found
  }

  /**
   * Tried entries that are still there were no trouble: an owner that stops now must not count against them. The next look may not find them,
   * because it asks for fewer or leaves them for later.
   */
  end(): void {
    const tried = this.#trying
    this.#trying = []
    if (tried.length > 0) for (const id of this.#set('0', tried)) this.#harmless.add(id)
  }

  /**
   * Returns the ids that are still there. Only a hint is written, so it needs no turn: it decides when an entry is set aside, and the turn
   * that does so checks the owner.
   */
  #set(tries: string, ids: readonly number[]): readonly number[] {
    return this.#connection.pluck<number>(`UPDATE inbox SET tries = ${tries} WHERE id = ANY ($1::bigint[]) RETURNING id`, ids)
  }

  #lastId(): number {
    this.#last ??= this.#connection.pluck<number>('SELECT coalesce(max(id), 0) FROM inbox')[0] as number
    return this.#last
  }
}

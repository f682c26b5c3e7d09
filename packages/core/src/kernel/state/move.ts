/** The interface between two stores while the content of one is moved to the other. Whoever has an end owns its store, and no engine does. */

import { MoveRefusedError } from '../../errors.ts'

/** The types of columns, which all stores know. A payload is text or bytes. */
export type MovedType = 'integer' | 'real' | 'text' | 'bytes' | 'payload'

export interface MovedTable {
  readonly name: string
  readonly columns: readonly { readonly name: string; readonly type: MovedType }[]
  /** The columns that identify a row. */
  readonly key: readonly string[]
}

export type MovedValue = string | number | Uint8Array | null

/** The values of a row, in the order of the table's columns. */
export type MovedRow = readonly MovedValue[]

/** The values of a key, in the order of its columns. */
export type MovedKey = readonly (string | number)[]

/** The numbers that a store keeps beside its tables. */
export interface MovedNumbers {
  readonly node: number
  readonly createdAt: number
  readonly paused: boolean
  readonly nextSeq: number
  readonly nextEvent: number
  readonly nextSession: number
}

/** The last row that was copied. */
export interface MovePlace {
  readonly table: string
  readonly key: MovedKey
}

/** The most rows of a page, and about the most bytes; it has at least one row if there is one. */
export interface PageBound {
  readonly rows: number
  readonly bytes: number
}

export interface MoveEnd {
  numbers(): MovedNumbers
  /** Returns the next rows behind a key, in an order of the end's own. */
  page(table: MovedTable, after: MovedKey | undefined, bound: PageBound): MovedRow[]
  close(): void
}

export interface MoveSource extends MoveEnd {
  /** The store that this one has been moved to, or is about to be. */
  readonly movedTo: string | undefined
  /** Jobs that are active, and entries of an inbox. Nothing can be added to either from now on. */
  unfinished(): { readonly active: number; readonly entries: number }
  /** Marks the store: from now on no engine opens it. */
  leave(to: string): void
}

export interface MoveTarget extends MoveEnd {
  /** `new`: nothing was ever stored in it; `moving`: an earlier move was interrupted here; `used`: any other. */
  readonly state: 'new' | 'moving' | 'used'
  /**
   * Marks a store that is not used: until `complete`, no engine opens it. Returns where an earlier move from this source stopped.
   *
   * @throws MoveRefusedError if the earlier move was from another source, or of another state of it
   */
  begin(from: string, numbers: MovedNumbers): MovePlace | undefined
  /** Adds rows, and notes the place, in one transaction. */
  write(table: MovedTable, rows: readonly MovedRow[], place: MovePlace): void
  /** From now on engines may open it. */
  complete(numbers: MovedNumbers): void
}

/**
 * Returns the place at which an interrupted move stopped. A source is known by its numbers: its name may be spelt in several ways.
 *
 * @param noted the source of that move, its numbers and the place, the last two as JSON
 * @throws MoveRefusedError if this is another move
 */
export function assertSameMove(
  [source, numbers, place]: readonly [source: string, numbers: string, place: string],
  [from, now]: readonly [from: string, now: MovedNumbers],
): MovePlace | undefined {
  const { node, createdAt } = JSON.parse(numbers) as MovedNumbers
  if (node !== now.node || createdAt !== now.createdAt)
    throw new MoveRefusedError(`the target is being filled from ${source}: move from there, or delete the target and move from ${from}`)
  if (numbers !== JSON.stringify(now))
    throw new MoveRefusedError(`${from} has been used since the move began: delete the target, and move again from the beginning`)
  return (JSON.parse(place) as MovePlace | null) ?? undefined
}

/** Returns the key of a row. */
export function movedKey({ columns, key }: MovedTable, row: MovedRow): MovedKey {
  return key.map((name) => row[columns.findIndex((column) => column.name === name)] as string | number)
}

/** Copies the tables of one store to another, page by page, and compares them. Whatever interrupts it, the same call goes on from its last page. */
import { createHash } from 'node:crypto'
import { type MovedRows, type MoveProgress, MoveRefusedError, StoreMovedError } from '@millrace/core'
import {
  type MovedKey,
  type MovedRow,
  type MovedTable,
  type MoveEnd,
  type MoveSource,
  type MoveTarget,
  movedKey,
} from '@millrace/core/kernel'

/** A page has about so many bytes, and no more rows than the other number. */
const PAGE_BYTES = 2 ** 21
const PAGE_ROWS = 4_096
/** Nothing is known of a table's rows before its first page. */
const FIRST_ROWS = 8
/** The bytes of a row beside its texts. */
const ROW_BYTES = 64
const CHECKSUM_BYTES = 16

export interface CopyOptions {
  readonly tables: readonly MovedTable[]
  /** The names of the stores in messages and in their marks. */
  readonly from: string
  readonly to: string
}

/**
 * Moves all content, and yields after each page. The source is marked before the target is opened to engines: there is never a moment at which both could be used.
 *
 * @throws MoveRefusedError, StoreMovedError, StoreFailure
 */
export function* copyStore(
  source: MoveSource,
  target: MoveTarget,
  { tables, from, to }: CopyOptions,
): Generator<MoveProgress, readonly MovedRows[]> {
  // The last move was interrupted in its last step, or it was not.
  if (!target.isMoving) assertNotMoved(source, from)
  const numbers = source.numbers()
  const place = target.begin(from, numbers)
  const rest = tables.slice(place === undefined ? 0 : tables.findIndex(({ name }) => name === place.table))
  for (const table of rest) {
    let copied = 0
    for (const page of pagesOf(source, table, table.name === place?.table ? place.key : undefined)) {
      target.write(table, page, { table: table.name, key: movedKey(table, page.at(-1) as MovedRow) })
      copied += page.length
      yield { phase: 'copy', table: table.name, rows: copied }
    }
  }
  const moved: MovedRows[] = []
  for (const table of tables) {
    const [here, there] = [yield* sumOf(source, table), yield* sumOf(target, table)]
    if (here.checksum !== there.checksum || here.rows !== there.rows)
      throw new MoveRefusedError(
        `table ${table.name} has ${here.rows} rows in ${from} (checksum ${here.checksum}) and ${there.rows} in ${to} (${there.checksum}): one of them was changed meanwhile. Delete the target, and move again from the beginning`,
      )
    moved.push(here)
  }
  source.leave(to)
  target.complete(numbers)
  return moved
}

/** @param to the only store that it may have moved to @throws StoreMovedError */
export function assertNotMoved({ movedTo }: MoveSource, from: string, to?: string): void {
  if (movedTo === undefined || movedTo === to) return
  throw new StoreMovedError(`the jobs of ${from} have moved to ${movedTo}: open that`, { movedTo })
}

function* pagesOf(end: MoveEnd, table: MovedTable, after: MovedKey | undefined): Generator<MovedRow[]> {
  let key = after
  let limit = FIRST_ROWS
  for (;;) {
    const page = end.page(table, key, limit)
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    key = movedKey(table, last)
    const bytes = page.reduce((sum, row) => sum + bytesOf(row), 0)
    limit = Math.max(1, Math.min(PAGE_ROWS, limit * FIRST_ROWS, Math.floor((PAGE_BYTES * page.length) / bytes)))
  }
}

function bytesOf(row: MovedRow): number {
  return row.reduce<number>(
    (sum, value) => sum + (typeof value === 'object' || typeof value === 'string' ? (value?.length ?? 0) : 0),
    ROW_BYTES,
  )
}

/** Sums up in any order: the stores have orders of their own. */
function* sumOf(end: MoveEnd, table: MovedTable): Generator<MoveProgress, MovedRows> {
  const sum = Buffer.alloc(CHECKSUM_BYTES)
  let rows = 0
  for (const page of pagesOf(end, table, undefined)) {
    for (const row of page) {
      const digest = createHash('sha256')
        .update(JSON.stringify(row.map(textOf)))
        .digest()
      for (let index = 0; index < CHECKSUM_BYTES; index++) sum[index] = (sum[index] as number) ^ (digest[index] as number)
    }
    rows += page.length
    yield { phase: 'check', table: table.name, rows }
  }
  return { table: table.name, rows, checksum: sum.toString('hex') }
}

function textOf(value: MovedRow[number]): unknown {
  return value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('base64') } : value
}

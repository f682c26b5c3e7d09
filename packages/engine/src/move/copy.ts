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
  type PageBound,
} from '@millrace/core/kernel'

const PAGE: PageBound = { rows: 4_096, bytes: 2 ** 21 }
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
  assertMayMove(source, target, from, to)
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
    const [here, there] = yield* sumsOf(source, target, table)
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

/**
 * A source that has been moved may be moved again to the target in which that move was interrupted, or to a new one in its place.
 *
 * @throws StoreMovedError, MoveRefusedError
 */
function assertMayMove({ movedTo }: MoveSource, { state }: MoveTarget, from: string, to: string): void {
  if (movedTo !== undefined && (state === 'used' || (state === 'new' && movedTo !== to))) throw movedError(from, movedTo)
  if (state === 'used') throw new MoveRefusedError(`${to} has been used: move to a file or a schema of another name`)
}

export function movedError(from: string, movedTo: string): StoreMovedError {
  return new StoreMovedError(`the jobs of ${from} have moved to ${movedTo}: open that`, { movedTo })
}

function* pagesOf(end: MoveEnd, table: MovedTable, after: MovedKey | undefined): Generator<MovedRow[], void> {
  for (let key = after; ; ) {
    const page = end.page(table, key, PAGE)
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    key = movedKey(table, last)
  }
}

/** Reads both stores page by page in turns: a server ends a session that is silent for long. */
function* sumsOf(source: MoveEnd, target: MoveEnd, table: MovedTable): Generator<MoveProgress, readonly [MovedRows, MovedRows]> {
  const sums = [new Sum(source, table), new Sum(target, table)] as const
  while (sums.map((sum) => sum.next()).includes(true)) yield { phase: 'check', table: table.name, rows: sums[0].rows }
  return [sums[0].total, sums[1].total]
}

/** The checksum of a table. It does not depend on the order of rows, since the stores have orders of their own. */
class Sum {
  readonly #table: string
  readonly #pages: Generator<MovedRow[], void>
  readonly #digests = Buffer.alloc(CHECKSUM_BYTES)
  rows = 0

  constructor(end: MoveEnd, table: MovedTable) {
    this.#table = table.name
    this.#pages = pagesOf(end, table, undefined)
  }

  get total(): MovedRows {
    return { table: this.#table, rows: this.rows, checksum: this.#digests.toString('hex') }
  }

  /** Adds a page. Returns false if there is none left. */
  next(): boolean {
    const page = this.#pages.next().value ?? []
    for (const row of page) {
      const digest = createHash('sha256')
        .update(JSON.stringify(row.map(textOf)))
        .digest()
      for (let index = 0; index < CHECKSUM_BYTES; index++)
        this.#digests[index] = (this.#digests[index] as number) ^ (digest[index] as number)
    }
    this.rows += page.length
    return page.length > 0
  }
}

function textOf(value: MovedRow[number]): unknown {
  return value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('base64') } : value
}

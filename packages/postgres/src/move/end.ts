/** The reads of both ends of a move: pages of rows, and the numbers beside the tables. */
import type { MovedKey, MovedNumbers, MovedRow, MovedTable, MovedType, MovedValue, PageBound } from '@millrace/core/kernel'
import type { Connection } from '../connection.ts'

const NUMBERS = `SELECT meta.node, created_at, paused, last.next_seq, last.next_event, last.next_session
FROM meta CROSS JOIN journal AS last ORDER BY last.turn DESC LIMIT 1`

/** Types in Postgres, but for payloads, which are two columns. */
const TYPES: Readonly<Record<Exclude<MovedType, 'payload'>, string>> = {
  integer: 'bigint',
  real: 'float8',
  text: 'text',
  bytes: 'bytea',
}

interface Column {
  readonly name: string
  readonly type: string
  /** The column of the moved table. */
  readonly place: number
}

/** Returns the columns that a table has here: first those of the moved table, in its order, and behind them the payloads that are bytes. */
export function columnsOf({ columns }: MovedTable): readonly Column[] {
  const all = columns.map(({ name, type }, place) => ({ name, type, place }))
  return [
    ...all.map(({ name, type, place }) => ({ name, type: type === 'payload' ? 'text' : TYPES[type], place })),
    ...all.filter(({ type }) => type === 'payload').map(({ name, place }) => ({ name: `${name}_bytes`, type: 'bytea', place })),
  ]
}

export function numbersOf(connection: Connection): MovedNumbers {
  const row = connection.get<[number, number, number, number, number, number, number]>(NUMBERS)
  const [node, createdAt, paused, nextSeq, nextEvent, nextSession] = row as NonNullable<typeof row>
  return { node, createdAt, paused: paused === 1, nextSeq, nextEvent, nextSession }
}

/** Finds by their sizes, which stand in the rows' headers, how many of the next rows fit. */
export function pageOf(
  connection: Connection,
  table: MovedTable,
  after: MovedKey | undefined,
  { rows: most, bytes }: PageBound,
): MovedRow[] {
  const columns = columnsOf(table)
  const key = table.key.join(', ')
  const conditions = [
    // Turns without events have no row in a file.
    ...(table.name === 'journal' ? ['count > 0'] : []),
    ...(after === undefined ? [] : [`(${key}) > (${after.map((_, index) => `$${index + 3}`).join(', ')})`]),
  ]
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
  const names = columns.map(({ name }) => name).join(', ')
  const sizes = columns.filter(({ type }) => type === 'text' || type === 'bytea').map(({ name }) => `coalesce(octet_length(${name}), 0)`)
  const sized = `SELECT *, ${[...sizes, '0'].join(' + ')} AS size FROM ${table.name} ${where} ORDER BY ${key} LIMIT $1`
  const rows = connection.all<MovedValue[]>(
    `SELECT ${names} FROM (
  SELECT *, sum(size) OVER (ORDER BY ${key} ROWS UNBOUNDED PRECEDING) - size AS before FROM (${sized}) AS sized
) AS page WHERE before < $2 ORDER BY ${key}`,
    most,
    bytes,
    ...(after ?? []),
  )
  return rows.map((row) => {
    const moved = row.slice(0, table.columns.length)
    for (const [index, { place }] of columns.entries()) moved[place] ??= row[index] as MovedValue
    return moved
  })
}

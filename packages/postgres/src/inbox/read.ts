/** Reads the entries of the inbox that are committed, oldest first. */
import { sourcedNode } from '@millrace/core'
import type { InboxRow } from '@millrace/core/kernel'
import type { Connection } from '../connection.ts'
import { MARK, MARK_ITSELF } from '../line/nul.ts'
import { fittingOf, type Sized } from '../read/bounded.ts'
import { Floor } from './floor.ts'
import { NUMBERS, PLACES } from './schema.ts'

const ENTRIES_MAX = 1_000
const BYTES_MAX = 4 * 2 ** 20

/** Numbers are not the order of commits, so nothing but an entry's absence says that it is done with. */
const WAITING = 'SELECT id, bytes FROM inbox WHERE id > $1 ORDER BY id LIMIT $2'

/** Characters of these texts come from others, who know nothing of how NUL is stored. */
const marked = (text: string) => `replace(${text}, '${MARK}', '${MARK_ITSELF}')`
const ENTRIES = `SELECT id, at, name, ${marked('data::text')}, ${marked('options::text')} FROM inbox WHERE id = ANY ($1::bigint[]) ORDER BY id`

type Raw = [id: number, at: number, name: string, data: string | null, options: string]

/** Returns at most 1,000 entries, or fewer, of about 4 MiB, and at least one if there is one; not those with the numbers in `except`. */
export type ReadInbox = (except: readonly number[], entriesMax?: number) => InboxRow[]

export function prepareInbox(connection: Connection): ReadInbox {
  const floor = new Floor(connection)
  let first: number | undefined
  return (except, entriesMax = ENTRIES_MAX) => {
    const skipped = new Set(except)
    const waiting = connection.all<Sized>(WAITING, floor.get(), ENTRIES_MAX + except.length)
    const found = waiting.filter(([id]) => !skipped.has(id)).slice(0, entriesMax)
    if (found.length === 0) return []
    first ??= connection.pluck<number>('SELECT inbox_number FROM meta')[0] as number
    const number = first
    const rows = connection.all<Raw>(ENTRIES, fittingOf(found, entriesMax, BYTES_MAX))
    return rows.map(([id, at, name, data, options]) => ({ id, node: nodeOf(id, number), at, name, data, options }))
  }
}

/** Returns the node in the id that the function `enqueue` gave to an entry. */
function nodeOf(id: number, first: number): number {
  const round = Math.floor((id - 1) / PLACES)
  return sourcedNode(((id - 1) % PLACES) + 1, ((first - 1 + round) % NUMBERS) + 1)
}

/** Reads the entries of the inbox that are committed, oldest first. */
import { sourcedNode } from '@millrace/core'
import type { InboxRow } from '@millrace/core/kernel'
import { MARK, MARK_ITSELF } from '../bridge/nul.ts'
import type { Connection } from '../connection.ts'
import { fittingOf } from '../read/bounded.ts'
import { LowWaterMark } from './lowWaterMark.ts'
import { NUMBERS, PLACES } from './schema.ts'
import { TRIES_MAX, Tries, type Waiting } from './tries.ts'

const ENTRIES_MAX = 1_000
const BYTES_MAX = 4 * 2 ** 20

/** Numbers are not the order of commits, so nothing but an entry's absence says that it is done with. */
const WAITING = 'SELECT id, bytes, tries FROM inbox WHERE id > $1 ORDER BY id LIMIT $2'

/** Characters of these texts come from others, who know nothing of how NUL is stored. */
const marked = (text: string) => `replace(${text}, '${MARK}', '${MARK_ITSELF}')`
const ENTRIES = `SELECT id, at, name, ${marked('data::text')}, ${marked('options::text')} FROM inbox WHERE id = ANY ($1::bigint[]) ORDER BY id`

/** Whatever is in it is not looked at: that is what may take too long. */
const UNREAD = "SELECT id, at, name, NULL, '{}' FROM inbox WHERE id = ANY ($1::bigint[])"

const SET_ASIDE = {
  code: 'TOO_LARGE',
  message: `${TRIES_MAX} owners of the schema were lost while they read this entry, so it was set aside unread: split its data, and enqueue it again`,
} as const

type Raw = [id: number, at: number, name: string, data: string | null, options: string]

/** Returns at most 1,000 entries, or fewer, of about 4 MiB, and at least one if there is one; not those with the numbers in `except`. */
export type ReadInbox = (except: readonly number[], entriesMax?: number) => InboxRow[]

export function prepareInbox(connection: Connection): ReadInbox {
  const mark = new LowWaterMark(connection)
  const tries = new Tries(connection)
  let first: number | undefined
  return (except, entriesMax = ENTRIES_MAX) => {
    const skipped = new Set(except)
    const waiting = connection.all<Waiting>(WAITING, mark.get(), ENTRIES_MAX + except.length)
    const found = waiting.filter(([id]) => !skipped.has(id)).slice(0, entriesMax)
    if (found.length === 0) {
      tries.end()
      return []
    }
    const fitting = new Set(
      fittingOf(
        found.map(([id, bytes]) => [id, bytes]),
        entriesMax,
        BYTES_MAX,
      ),
    )
    const trying = tries.begin(found.filter(([id]) => fitting.has(id)))
    const isSetAside = trying.some(([, , count]) => count >= TRIES_MAX)
    first ??= connection.pluck<number>('SELECT inbox_number FROM meta')[0] as number
    const number = first
    const ids = trying.map(([id]) => id)
    const rows = connection.all<Raw>(isSetAside ? UNREAD : ENTRIES, ids)
    return rows.map(([id, at, name, data, options]) => {
      const row = { id, node: nodeOf(id, number), at, name, data, options }
      return isSetAside ? { ...row, unfit: SET_ASIDE } : row
    })
  }
}

/** Returns the node in the id that the function `enqueue` gave to an entry. */
function nodeOf(id: number, first: number): number {
  const round = Math.floor((id - 1) / PLACES)
  return sourcedNode(((id - 1) % PLACES) + 1, ((first - 1 + round) % NUMBERS) + 1)
}

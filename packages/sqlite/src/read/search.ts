/**
 * Finds a page of jobs in which a string occurs, newest first, by checking one after the other: no index covers their contents.
 * The search is bounded by rows and by time, and reports how far it has come. docs/decisions/0014.
 */
import type { ListFilter } from '@millrace/core'
import type { LookBound } from '@millrace/core/kernel'
import type { Database, SqlValue } from '../driver.ts'
import { extrasFrom } from '../tables/job.ts'
import { prepareTagBlocks } from '../tags.ts'
import type { Found } from './list.ts'

export interface SearchQuery {
  readonly filter: ListFilter
  readonly text: string
}

export type FindBySearch = (query: SearchQuery, before: number, limit: number, bound: LookBound) => Found

/** `found` is 1 if the name or the data contain the string; the extras if those may contain it. */
type Seen = [seq: number, found: number | string | null]

/** The number of rows between two looks at the clock. */
const ROWS_PER_LOOK = 32

/** The columns read from each row: whether the filter fits, and then where the string is. */
const ASKED = `job.seq, CASE WHEN (? IS NULL OR job.state = ?) AND (? IS NULL OR job.lane IN (SELECT value FROM json_each(?))) THEN
  CASE WHEN job.lane IN (SELECT value FROM json_each(?)) THEN 1
    WHEN typeof(job.data) = 'text' AND (job.data LIKE ? ESCAPE '\\' OR job.data LIKE ? ESCAPE '\\') THEN 1
    WHEN job.extras LIKE ? ESCAPE '\\' THEN job.extras END END`

export function prepareSearch(db: Database): FindBySearch {
  const walk = db.prepare(`SELECT ${ASKED} FROM job WHERE job.seq < ? ORDER BY job.seq DESC`).raw()
  const byTag = db
    .prepare(
      `SELECT ${ASKED} FROM tag CROSS JOIN job ON job.seq = tag.seq WHERE tag.seq < ? AND tag.block = ? AND tag.tag = ? ORDER BY tag.seq DESC`,
    )
    .raw()
  const blocks = prepareTagBlocks(db)
  const lanes = db.prepare('SELECT lane.id, queue.name, lane.name FROM lane JOIN queue ON queue.id = lane.queue').raw()

  function* tagged(tag: string, before: number, values: readonly SqlValue[]): Generator<unknown, void> {
    for (const { block } of blocks(tag, before)) yield* byTag.iterate(...values, block, tag)
  }

  return ({ filter, text }, before, limit, bound) => {
    const state = filter.state ?? null
    const wanted = folded(text)
    const all = lanes.all() as [id: number, queue: string, name: string][]
    const meant = all.filter(([, queue, name]) => (filter.queue ?? queue) === queue && (filter.name ?? name) === name)
    const named = meant.filter(([, , name]) => folded(name).includes(wanted))
    const chosen = meant.length < all.length ? idsOf(meant) : null
    // LIKE reads a pattern up to its first NUL, and JSON has none.
    const json = patternOf(JSON.stringify(text).slice(1, -1))
    const values: SqlValue[] = [
      state,
      state,
      chosen,
      chosen,
      idsOf(named),
      text.includes('\0') ? json : patternOf(text),
      json,
      json,
      before,
    ]
    const seqs: number[] = []
    let looked = 0
    let next: number | null = null
    // Leaving the loop early ends the iterator, and with it the read transaction.
    for (const [seq, found] of (filter.tag === undefined
      ? walk.iterate(...values)
      : tagged(filter.tag, before, values)) as Iterable<Seen>) {
      if (found === 1 || (typeof found === 'string' && isInExtras(found, wanted))) seqs.push(seq)
      looked++
      if (seqs.length < limit && looked < bound.rows && (looked % ROWS_PER_LOOK !== 0 || !bound.late())) continue
      next = seq
      break
    }
    return { seqs, next }
  }
}

function idsOf(lanes: readonly (readonly [id: number, ...unknown[]])[]): string {
  return JSON.stringify(lanes.map(([id]) => id))
}

/** Folds ASCII letters only, as LIKE does. */
function folded(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

function patternOf(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}

/** True if a tag or a key contains the string: meta and the names of the fields do not count. */
function isInExtras(stored: string, wanted: string): boolean {
  const { tags = [], idempotencyKey, uniqueKey, concurrencyKey } = extrasFrom(stored) ?? {}
  return [...tags, idempotencyKey, uniqueKey, concurrencyKey].some((text) => text !== undefined && folded(text).includes(wanted))
}

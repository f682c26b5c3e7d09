/**
 * Finds the jobs that fit by looking at one after the other, because no index covers every filter, nor the contents of jobs. A look is
 * bounded by rows and by time, and reports how far it has come. docs/decisions/0014.
 */
import { isOfLastRun, type ListFilter } from '@millrace/core'
import { folded, type ScanBound, storedForms } from '@millrace/core/kernel'
import { contentJudge, type Found, isInExtras, type Place, patternOf, type SqlValue } from '@millrace/sql'
import type { Database } from '../driver.ts'
import { MATCHES, matchValues } from './conditions.ts'
import type { Lanes } from './selection.ts'

/** A range of row numbers, newest first unless it ascends. */
interface Range {
  readonly first: number
  readonly last: number
  readonly ascending: boolean
}

/** Rows to look at in their order: a range, or those that are named. */
export interface Part {
  readonly rows: Range | readonly Place[]
  /** The place behind which the next part begins. */
  readonly end: Place
  /** The number of places in an index that were searched for it, each of which takes as long as a row. */
  readonly asked?: number
}

export interface Wanted {
  readonly filter: ListFilter
  /** The lanes of the filter's queue and name. */
  readonly lanes: Lanes
  /** A string that the jobs contain. */
  readonly text?: string | undefined
}

export type Scan = (wanted: Wanted, parts: Iterable<Part>, limit: number, bound: ScanBound) => Found

/** The number of rows between two looks at the clock. */
const ROWS_PER_PAUSE = 32
/** The length of data that is parsed between two looks at the clock. */
const PARSED_PER_LOOK = 2 ** 16
/** SQLite passes over so many rows that do not fit in the time that it takes to return one, or to look up a last run. */
const PASSED_PER_ROW = 4

/**
 * `found` is 1 if the row fits, and has the string in its name or data; its extras if those may contain the string. `data` and `extras` are
 * there if they have to be judged.
 */
type Seen = [seq: number, found: number | string | null, data: string | null, extras: string | null]

const COLUMNS = `job.seq, CASE WHEN ? IS NULL OR job.lane IN (SELECT value FROM json_each(?)) THEN 1
  WHEN typeof(job.data) = 'text' AND (job.data LIKE ? ESCAPE '\\' OR job.data LIKE ? ESCAPE '\\') THEN 1
  WHEN job.extras LIKE ? ESCAPE '\\' THEN job.extras END, CASE WHEN ? THEN job.data END, CASE WHEN ? THEN job.extras END`

export function prepareScan(db: Database): Scan {
  const rangeBy = (order: string) =>
    db.prepare(`SELECT ${COLUMNS} FROM job WHERE job.seq BETWEEN ? AND ? AND ${MATCHES} ORDER BY job.seq ${order}`).raw()
  const [newest, oldest] = [rangeBy('DESC'), rangeBy('ASC')]
  const named = db.prepare(`SELECT ${COLUMNS} FROM json_each(?) AS wanted CROSS JOIN job ON job.seq = wanted.value WHERE ${MATCHES}`).raw()
  const names = db.prepare('SELECT id, name FROM lane').raw()

  const textValues = (text: string | undefined): readonly SqlValue[] => {
    if (text === undefined) return [null, '[]', null, null, null]
    const lanes = names.all() as [id: number, name: string][]
    const ids = lanes.filter(([, name]) => folded(name).includes(folded(text))).map(([id]) => id)
    const [plain, escaped] = storedForms(text).map(patternOf) as [plain: string, escaped: string]
    // LIKE reads a pattern up to its first NUL, and JSON has none.
    return [text, JSON.stringify(ids), text.includes('\0') ? escaped : plain, escaped, escaped]
  }

  return ({ filter, lanes, text }, parts, limit, bound) => {
    const asked = [...textValues(text), Number(filter.data !== undefined), Number(filter.meta !== undefined)]
    const fit = matchValues(filter, lanes)
    const isContained = contentJudge(filter)
    const seen = ({ rows }: Part): Iterable<Seen> => {
      const values = 'last' in rows ? [rows.first, rows.last] : [JSON.stringify(rows.map(({ seq }) => seq))]
      const statement = 'last' in rows ? (rows.ascending ? oldest : newest) : named
      return statement.iterate(...asked, ...values, ...fit) as Iterable<Seen>
    }
    const places: Place[] = []
    let scanned = 0
    let passed = 0
    let parsed = 0
    let next: Place | null = null
    for (const part of parts) {
      const placeOf = placesOf(part)
      // Leaving the loop early ends the iterator, and with it the read transaction.
      for (const [seq, found, data, extras] of seen(part)) {
        const hasText = found === 1 || (typeof found === 'string' && isInExtras(found, text as string))
        if (hasText && isContained(data, extras)) places.push(placeOf(seq))
        scanned++
        parsed += data?.length ?? 0
        const hasParsed = parsed >= PARSED_PER_LOOK
        const isPause = scanned % ROWS_PER_PAUSE === 0 || hasParsed
        if (isPause) parsed = 0
        if (places.length < limit && scanned < bound.rows && !(isPause && bound.late(hasParsed ? Number.POSITIVE_INFINITY : scanned)))
          continue
        next = placeOf(seq)
        passed += passedUntil(part, seq)
        break
      }
      if (next !== null) break
      passed += passedIn(part)
      scanned += passedIn(part) / (isOfLastRun(filter) ? 1 : PASSED_PER_ROW) + (part.asked ?? 0)
      if (scanned < bound.rows && !bound.late(scanned)) continue
      next = part.end
      break
    }
    return { places, next, scanned: passed }
  }
}

/** Returns the place of each row that a part may have. Rows come in the order of their places. */
function placesOf({ rows }: Part): (seq: number) => Place {
  if ('last' in rows) return (seq) => ({ seq })
  let index = 0
  return (seq) => {
    while (rows[index]?.seq !== seq) index++
    return rows[index] as Place
  }
}

function passedIn({ rows }: Part): number {
  return 'last' in rows ? rows.last - rows.first + 1 : rows.length
}

function passedUntil({ rows }: Part, seq: number): number {
  if ('last' in rows) return rows.ascending ? seq - rows.first + 1 : rows.last - seq + 1
  return rows.findIndex((place) => place.seq === seq) + 1
}

/**
 * Finds the jobs that fit by looking at one after the other, because no place covers every filter, nor the contents of jobs. A look is
 * bounded by rows and by time, and reports how far it has come.
 */
import type { ListFilter } from '@millrace/core'
import { folded, type ScanBound, storedForms } from '@millrace/core/kernel'
import { contentJudge, type Found, isInExtras, type Place, patternOf } from '@millrace/sql'
import type { Value } from '../bridge/statement.ts'
import type { Connection } from '../connection.ts'
import { fittingOf } from './bounded.ts'
import { matchesFrom, matchValues } from './conditions.ts'

/** Rows to look at in their order. */
export interface Part {
  readonly places: readonly Place[]
  /** The place behind which the next part begins. */
  readonly end: Place
}

/** Yields parts of at most as many rows as it is told. */
export type Parts = Generator<Part, void>

interface Wanted {
  readonly filter: ListFilter
  /** The lanes of the filter's queue and name; null for all. */
  readonly laneIds: readonly number[] | null
  /** A string that the jobs contain. */
  readonly text?: string | undefined
}

export type Scan = (wanted: Wanted, parts: Parts, limit: number, bound: ScanBound) => Found

/** The extras of a row that may contain the string in them, null if it is in its name or data; and what has to be judged beside that. */
type Seen = [seq: number, found: string | null, dataBytes: number | null, extras: string | null]

const DATA = 'lower(job.data COLLATE "C")'
const EXTRAS = 'lower(job.extras COLLATE "C")'
const SAYS = `job.lane = ANY ($2::bigint[]) OR ${DATA} LIKE $3 OR ${DATA} LIKE $4`
const FITTING = `SELECT job.seq, CASE WHEN $3::text IS NULL OR ${SAYS} THEN NULL ELSE job.extras END,
  CASE WHEN $5::int = 1 THEN octet_length(job.data) END, CASE WHEN $6::int = 1 THEN job.extras END FROM job
WHERE job.seq = ANY ($1::bigint[]) AND ($3::text IS NULL OR ${SAYS} OR ${EXTRAS} LIKE $4)
  AND ${matchesFrom(6)}`

const DATA_OF = 'SELECT seq, data FROM job WHERE seq = ANY ($1::bigint[])'
/** The bytes of data that are read at once to be judged. */
const DATA_BYTES = 2 ** 20

/** The data of rows, which is read in their order, about a megabyte at once. */
class StoredData {
  readonly #connection: Connection
  readonly #rows: readonly Seen[]
  readonly #read = new Map<number, string | null>()
  #next = 0

  constructor(connection: Connection, rows: readonly Seen[]) {
    this.#connection = connection
    this.#rows = rows.filter(([, , bytes]) => bytes !== null)
  }

  mustRead(row: Seen | undefined): boolean {
    return row !== undefined && row[2] !== null && !this.#read.has(row[0])
  }

  of(row: Seen): string | null {
    while (this.mustRead(row)) {
      const seqs = fittingOf(
        this.#rows.slice(this.#next).map(([seq, , bytes]) => [seq, bytes as number]),
        this.#rows.length,
        DATA_BYTES,
      )
      for (const [seq, data] of this.#connection.all<[number, string | null]>(DATA_OF, seqs)) this.#read.set(seq, data)
      // A job may be gone since.
      for (const seq of seqs) if (!this.#read.has(seq)) this.#read.set(seq, null)
      this.#next += seqs.length
    }
    return this.#read.get(row[0]) ?? null
  }
}

function hasText([, found]: Seen, text: string | undefined): boolean {
  return found === null || isInExtras(found, text as string)
}

export function prepareScan(connection: Connection): Scan {
  const textValues = (text: string | undefined): readonly Value[] => {
    if (text === undefined) return [[], null, null]
    const lanes = connection.all<[id: number, name: string]>('SELECT id, name FROM lane')
    const ids = lanes.filter(([, name]) => folded(name).includes(folded(text))).map(([id]) => id)
    const [plain, escaped] = storedForms(text).map((form) => folded(patternOf(form))) as [string, string]
    return [ids, plain, escaped]
  }

  return ({ filter, laneIds, text }, parts, limit, bound) => {
    const asked = [...textValues(text), Number(filter.data !== undefined), Number(filter.meta !== undefined)]
    const fit = matchValues(filter, laneIds)
    const isContained = contentJudge(filter)
    const places: Place[] = []
    let scanned = 0
    for (const part of parts) {
      const seqs = part.places.map(({ seq }) => seq)
      const seen = new Map(connection.all<Seen>(FITTING, seqs, ...asked, ...fit).map((row) => [row[0], row] as const))
      const stored = new StoredData(
        connection,
        part.places.map(({ seq }) => seen.get(seq)).filter((row) => row !== undefined),
      )
      let last: Place | undefined
      for (const place of part.places) {
        const row = seen.get(place.seq)
        // A part of large data may take long: what is read next is left to the next page.
        if (last !== undefined && stored.mustRead(row) && bound.late(Number.POSITIVE_INFINITY)) return { places, next: last }
        scanned++
        if (row !== undefined && hasText(row, text) && isContained(stored.of(row), row[3])) places.push(place)
        if (places.length >= limit || scanned >= bound.rows) return { places, next: place }
        last = place
      }
      if (bound.late(scanned)) return { places, next: part.end }
    }
    return { places, next: null }
  }
}

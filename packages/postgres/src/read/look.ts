/**
 * Finds the jobs that fit by looking at one after the other, because no place covers every filter, nor the contents of jobs. A look is
 * bounded by rows and by time, and reports how far it has come.
 */
import type { ListFilter } from '@millrace/core'
import { folded, type LookBound, storedForms } from '@millrace/core/kernel'
import { isInExtras, patternOf } from '@millrace/sqlite/rows'
import type { Connection } from '../connection.ts'
import type { Value } from '../line/statement.ts'
import { fitsFrom, fitValues } from './fits.ts'

/** A row in a list, with its place in an order by time. */
export interface Place {
  readonly seq: number
  readonly at?: number
}

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
  /** A string that occurs in name, tags, keys or data. */
  readonly text?: string | undefined
}

/** The jobs of a page, and the place behind which the next one begins; null if there are none left. */
export interface Found {
  readonly places: readonly Place[]
  readonly next: Place | null
}

export type Look = (wanted: Wanted, parts: Parts, limit: number, bound: LookBound) => Found

/** The extras of a row that may contain the string in them; null if it is in its name or data. */
type Seen = [seq: number, extras: string | null]

const DATA = 'lower(job.data COLLATE "C")'
const EXTRAS = 'lower(job.extras COLLATE "C")'
const SAYS = `job.lane = ANY ($2::bigint[]) OR ${DATA} LIKE $3 OR ${DATA} LIKE $4`
const FITTING = `SELECT job.seq, CASE WHEN $3::text IS NULL OR ${SAYS} THEN NULL ELSE job.extras END FROM job
WHERE job.seq = ANY ($1::bigint[]) AND ($3::text IS NULL OR ${SAYS} OR ${EXTRAS} LIKE $4)
  AND ${fitsFrom(4)}`

export function prepareLook(connection: Connection): Look {
  const textValues = (text: string | undefined): readonly Value[] => {
    if (text === undefined) return [[], null, null]
    const lanes = connection.all<[id: number, name: string]>('SELECT id, name FROM lane')
    const ids = lanes.filter(([, name]) => folded(name).includes(folded(text))).map(([id]) => id)
    const [plain, escaped] = storedForms(text).map((form) => folded(patternOf(form))) as [string, string]
    return [ids, plain, escaped]
  }

  return ({ filter, laneIds, text }, parts, limit, bound) => {
    const asked = textValues(text)
    const fit = fitValues(filter, laneIds)
    const places: Place[] = []
    let looked = 0
    for (const part of parts) {
      const seqs = part.places.map(({ seq }) => seq)
      const seen = new Map(connection.all<Seen>(FITTING, seqs, ...asked, ...fit))
      for (const place of part.places) {
        const extras = seen.get(place.seq)
        looked++
        if (extras === null || (extras !== undefined && isInExtras(extras, text as string))) places.push(place)
        if (places.length >= limit || looked >= bound.rows) return { places, next: place }
      }
      if (bound.late()) return { places, next: part.end }
    }
    return { places, next: null }
  }
}

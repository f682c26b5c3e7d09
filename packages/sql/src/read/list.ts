/** Makes a page of a list of the jobs that were found for it. */
import type { JobRow, ListQuery, ListRows } from '@millrace/core/kernel'

/** A row in a list, with its place in an order by time. */
export interface Place {
  readonly seq: number
  readonly at?: number
}

/** The jobs of a page, and the place behind which the next one begins; null if there are none left. */
export interface Found {
  readonly places: readonly Place[]
  readonly next: Place | null
  /** The number of places that were passed, those of deleted jobs included. Absent if an index has found the jobs. */
  readonly scanned?: number
}

export const NOTHING_FOUND: Found = { places: [], next: null }

/** @param rows the first of the jobs, as many as the page may hold */
export function pageOf(
  { places, next, scanned }: Found,
  rows: JobRow[],
  { lastRun }: ListQuery,
  withLastRuns: (rows: readonly JobRow[]) => JobRow[],
): ListRows {
  const end = rows.length < places.length ? placeOf(places, rows.at(-1) as JobRow) : next
  return {
    rows: lastRun === true ? withLastRuns(rows) : rows,
    next: end?.seq ?? null,
    ...(end?.at !== undefined && { nextAt: end.at }),
    ...(scanned !== undefined && { scanned }),
  }
}

function placeOf(places: readonly Place[], { seq }: JobRow): Place {
  return places.find((place) => place.seq === seq) as Place
}

/** Returns a slice of what a bulk call matches, and the row behind which the next one begins. */
export function sliceOf({ places, next }: Found, rows: JobRow[]): { rows: JobRow[]; next: number | null } {
  return { rows, next: rows.length < places.length ? (rows.at(-1) as JobRow).seq : (next?.seq ?? null) }
}

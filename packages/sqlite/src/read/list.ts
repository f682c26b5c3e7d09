/** Reads one page of a list: finds the jobs, and reads as many as a page may hold. */
import { FAILED, isNarrowed, LIMITS, type ListFilter, statesOf } from '@millrace/core'
import { impliedFilter, type ListQuery, type ListRows, type ScanBound, spanOf } from '@millrace/core/kernel'
import { type Found, NOTHING_FOUND, type Place, pageOf } from '@millrace/sql'
import type { Database } from '../driver.ts'
import { prepareJobs, prepareJobsWithin } from './jobs.ts'
import { prepareWithLastRuns } from './lastRuns.ts'
import { prepareOrderedParts } from './orders.ts'
import { preparePage } from './page.ts'
import { type Arrival, prepareArrivalParts } from './parts.ts'
import { type Part, prepareScan } from './scan.ts'
import { prepareSelection, type Selection } from './selection.ts'

/** The most rows that an index is asked for at once. */
const FEW_MAX = 1_000_000

export function prepareList(db: Database): (query: ListQuery, bound: ScanBound) => ListRows {
  const page = preparePage(db)
  const scan = prepareScan(db)
  const arrival = prepareArrivalParts(db)
  const ordered = prepareOrderedParts(db)
  const select = prepareSelection(db)
  const whole = prepareJobsWithin(db, LIMITS.pageBytes)
  const jobs = prepareJobs(db)
  const withLastRuns = prepareWithLastRuns(db)

  /** Returns the rows to look at in the order of their arrival. */
  const arrivalParts = (filter: ListFilter, { lanes, matches }: Selection, from: Arrival, rows: number): Iterable<Part> => {
    if (filter.flow !== undefined) return arrival.all(from, spanOf(filter))
    if (filter.tag !== undefined) return arrival.tagged(filter.tag, from)
    const few = Math.min(rows, FEW_MAX)
    // A span of time may have few failed jobs, and the number of matches may be unknown: then jobs are counted as they are read.
    const isMany = Number.isFinite(matches) && matches > few && statesOf(filter)?.includes(FAILED) !== true
    return (isMany ? undefined : arrival.inStates(lanes, filter, from, few)) ?? arrival.all(from, spanOf(filter))
  }

  const find = (query: ListQuery, bound: ScanBound): Found => {
    const { limit, search: text, order, ascending = false, beforeAt } = query
    const { before = ascending ? 0 : Number.MAX_SAFE_INTEGER } = query
    if (text === undefined && order === undefined && !ascending && !isNarrowed(query.filter)) {
      const places = page(query.filter, before, limit).map((seq) => ({ seq }))
      return { places, next: places.length < limit ? null : (places.at(-1) as Place) }
    }
    const filter = impliedFilter(query.filter)
    if (filter === undefined) return NOTHING_FOUND
    const selection = select(filter)
    if (selection.matches === 0) return NOTHING_FOUND
    const { lanes } = selection
    const from = beforeAt === undefined ? undefined : { at: beforeAt, seq: before }
    const parts =
      order === undefined ? arrivalParts(filter, selection, { seq: before, ascending }, bound.rows) : ordered(order, filter, lanes, from)
    return scan({ filter, lanes, text }, parts, limit, bound)
  }

  // A reader's statements see one moment only within a transaction. Otherwise a job that is removed in between would make a page
  // short, and a short page reads as the last.
  return db.transaction((query: ListQuery, bound: ScanBound): ListRows => {
    const found = find(query, bound)
    const seqs = found.places.map(({ seq }) => seq)
    const rows = query.payloadBytes === undefined ? whole(seqs) : jobs(seqs, query.payloadBytes)
    return pageOf(found, rows, query, withLastRuns)
  })
}

/**
 * Reads a slice of the jobs that a filter matches, newest first. No index serves every filter, and none may be read whole in a
 * turn. If few jobs are in the state, its index finds them. Otherwise a bounded walk finds them, and reports how far it has come.
 */
import { LIMITS } from '@millrace/core'
import { type JobRow, type Matching, type ScanBound, spanOf } from '@millrace/core/kernel'
import { sliceOf } from '@millrace/sql'
import type { Database } from '../driver.ts'
import { prepareJobsWithin } from './jobs.ts'
import { type Arrival, prepareArrivalParts } from './parts.ts'
import { type Part, prepareScan } from './scan.ts'

export type ReadMatching = (filter: Matching, before: number, limit: number) => { rows: JobRow[]; next: number | null }

/** The limit for one slice's payloads: a slice of large ones is shorter than requested. */
const SLICE_BYTES = 16 * 2 ** 20

export function prepareMatching(db: Database): ReadMatching {
  const scan = prepareScan(db)
  const arrival = prepareArrivalParts(db)
  const jobs = prepareJobsWithin(db, SLICE_BYTES)

  const partsOf = ({ laneIds, filter, indexed }: Matching, before: number): Iterable<Part> => {
    const from: Arrival = { seq: before, ascending: false }
    if (filter.flow !== undefined) return arrival.all(from, spanOf(filter))
    const few =
      indexed && laneIds !== undefined ? arrival.inStates({ ids: laneIds, queue: null }, filter, from, LIMITS.walkRows) : undefined
    return few ?? (filter.tag === undefined ? arrival.all(from, spanOf(filter)) : arrival.tagged(filter.tag, from))
  }

  return (matching, before, limit) => {
    const { filter, laneIds: ids = null, text } = matching
    const bound: ScanBound = { rows: LIMITS.walkRows, late: () => false }
    const found = scan({ filter, lanes: { ids, queue: null }, text }, partsOf(matching, before), limit, bound)
    return sliceOf(found, jobs(found.places.map(({ seq }) => seq)))
  }
}

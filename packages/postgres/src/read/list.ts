/** Reads pages of lists, and slices of what a bulk call matches. */
import { isNarrowed, LIMITS } from '@millrace/core'
import { impliedFilter, type JobRow, type ListQuery, type ListRows, type Matching, type ScanBound } from '@millrace/core/kernel'
import { type Found, NOTHING_FOUND, type Place, pageOf, sliceOf } from '@millrace/sql'
import type { Connection } from '../connection.ts'
import { prepareWithLastRuns } from './attempts.ts'
import { matchesFrom, matchValues } from './conditions.ts'
import { prepareJobs, readWithin } from './jobs.ts'
import { arrivalParts, orderedParts } from './parts.ts'
import { prepareScan } from './scan.ts'

/** The limit for one slice's payloads: a slice of large ones is shorter than requested. */
const SLICE_BYTES = 16 * 2 ** 20

const PAGE = `SELECT job.seq FROM job WHERE job.seq < $1 AND ${matchesFrom(2)} ORDER BY job.seq DESC LIMIT $2`
const LANES = `SELECT lane.id FROM lane JOIN queue ON queue.id = lane.queue
WHERE ($1::text IS NULL OR queue.name = $1) AND ($2::text IS NULL OR lane.name = $2) ORDER BY lane.id`

export function prepareList(connection: Connection): (query: ListQuery, bound: ScanBound) => ListRows {
  const scan = prepareScan(connection)
  const jobs = prepareJobs(connection)
  const withLastRuns = prepareWithLastRuns(connection)

  const find = (query: ListQuery, bound: ScanBound): Found => {
    const { limit, search: text, order, ascending = false, beforeAt } = query
    const { before = ascending ? 0 : Number.MAX_SAFE_INTEGER } = query
    const filter = impliedFilter(query.filter)
    if (filter === undefined) return NOTHING_FOUND
    const { queue, name } = filter
    const isNarrow = queue !== undefined || name !== undefined
    const lanes = isNarrow || order !== undefined ? connection.pluck<number>(LANES, queue ?? null, name ?? null) : []
    const laneIds = isNarrow ? lanes : null
    if (isNarrow && lanes.length === 0) return NOTHING_FOUND
    if (text === undefined && order === undefined && !ascending && !isNarrowed(query.filter)) {
      const places = connection.pluck<number>(PAGE, before, limit, ...matchValues(filter, laneIds)).map((seq) => ({ seq }))
      return { places, next: places.length < limit ? null : (places.at(-1) as Place) }
    }
    const from = beforeAt === undefined ? undefined : { at: beforeAt, seq: before }
    const parts =
      order === undefined ? arrivalParts(connection, filter, before, ascending) : orderedParts(connection, order, filter, lanes, from)
    return scan({ filter, laneIds, text }, parts, limit, bound)
  }

  return (query, bound) => {
    const found = find(query, bound)
    const seqs = found.places.map(({ seq }) => seq)
    const rows = query.payloadBytes === undefined ? readWithin(connection, seqs, LIMITS.pageBytes) : jobs(seqs, query.payloadBytes)
    return pageOf(found, rows, query, withLastRuns)
  }
}

export type ReadMatching = (filter: Matching, before: number, limit: number) => { rows: JobRow[]; next: number | null }

export function prepareMatching(connection: Connection): ReadMatching {
  const scan = prepareScan(connection)
  return ({ filter, laneIds = null, text }, before, limit) => {
    const bound: ScanBound = { rows: LIMITS.walkRows, late: () => false }
    const found = scan({ filter, laneIds, text }, arrivalParts(connection, filter, before), limit, bound)
    const seqs = found.places.map(({ seq }) => seq)
    return sliceOf(found, readWithin(connection, seqs, SLICE_BYTES))
  }
}

/** Reads pages of lists, and slices of what a bulk call matches. */
import { isNarrowed, LIMITS } from '@millrace/core'
import { impliedFilter, type JobRow, type ListQuery, type ListRows, type LookBound, type Matching } from '@millrace/core/kernel'
import type { Connection } from '../connection.ts'
import { prepareWithLastRuns } from './attempts.ts'
import { fitsFrom, fitValues } from './fits.ts'
import { prepareJobs, readWithin } from './jobs.ts'
import { type Found, type Place, prepareLook } from './look.ts'
import { arrivalParts, orderedParts } from './parts.ts'

const NONE: Found = { places: [], next: null }
/** The limit for one slice's payloads: a slice of large ones is shorter than requested. */
const SLICE_BYTES = 16 * 2 ** 20

const PAGE = `SELECT job.seq FROM job WHERE job.seq < $1 AND ${fitsFrom(2)} ORDER BY job.seq DESC LIMIT $2`
const LANES = `SELECT lane.id FROM lane JOIN queue ON queue.id = lane.queue
WHERE ($1::text IS NULL OR queue.name = $1) AND ($2::text IS NULL OR lane.name = $2) ORDER BY lane.id`

export function prepareList(connection: Connection): (query: ListQuery, bound: LookBound) => ListRows {
  const look = prepareLook(connection)
  const jobs = prepareJobs(connection)
  const withLastRuns = prepareWithLastRuns(connection)

  const find = (query: ListQuery, bound: LookBound): Found => {
    const { limit, search: text, order, ascending = false, beforeAt } = query
    const { before = ascending ? 0 : Number.MAX_SAFE_INTEGER } = query
    const filter = impliedFilter(query.filter)
    if (filter === undefined) return NONE
    const { queue, name } = filter
    const isNarrow = queue !== undefined || name !== undefined
    const lanes = isNarrow || order !== undefined ? connection.pluck<number>(LANES, queue ?? null, name ?? null) : []
    const laneIds = isNarrow ? lanes : null
    if (isNarrow && lanes.length === 0) return NONE
    if (text === undefined && order === undefined && !ascending && !isNarrowed(query.filter)) {
      const places = connection.pluck<number>(PAGE, before, limit, ...fitValues(filter, laneIds)).map((seq) => ({ seq }))
      return { places, next: places.length < limit ? null : (places.at(-1) as Place) }
    }
    const from = beforeAt === undefined ? undefined : { at: beforeAt, seq: before }
    const parts =
      order === undefined ? arrivalParts(connection, filter.tag, before, ascending) : orderedParts(connection, order, filter, lanes, from)
    return look({ filter, laneIds, text }, parts, limit, bound)
  }

  return (query, bound) => {
    const { places, next } = find(query, bound)
    const seqs = places.map(({ seq }) => seq)
    const rows = query.payloadBytes === undefined ? readWithin(connection, seqs, LIMITS.pageBytes) : jobs(seqs, query.payloadBytes)
    const end = rows.length < seqs.length ? placeOf(places, rows.at(-1) as JobRow) : next
    return {
      rows: query.lastRun === true ? withLastRuns(rows) : rows,
      next: end?.seq ?? null,
      ...(end?.at !== undefined && { nextAt: end.at }),
    }
  }
}

function placeOf(places: readonly Place[], { seq }: JobRow): Place {
  return places.find((place) => place.seq === seq) as Place
}

export type ReadMatching = (filter: Matching, before: number, limit: number) => { rows: JobRow[]; next: number | null }

export function prepareMatching(connection: Connection): ReadMatching {
  const look = prepareLook(connection)
  return ({ filter, laneIds = null, text }, before, limit) => {
    const bound: LookBound = { rows: LIMITS.walkRows, late: () => false }
    const { places, next } = look({ filter, laneIds, text }, arrivalParts(connection, filter.tag, before), limit, bound)
    const seqs = places.map(({ seq }) => seq)
    const rows = readWithin(connection, seqs, SLICE_BYTES)
    return { rows, next: rows.length < seqs.length ? (rows.at(-1) as JobRow).seq : (next?.seq ?? null) }
  }
}

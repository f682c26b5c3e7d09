/** Reads what a list's filter selects: the lanes, the approximate number of rows, and their row numbers through the indexes by state. */
import { ACTIVE, BLOCKED, FAILED, type ListFilter, SCHEDULED, STATES, type StateCode, statesOf, WAITING } from '@millrace/core'
import type { Database } from '../driver.ts'
import { seqsIn, unpackRanges } from '../seqs.ts'

/** Holds for the jobs that wait for another attempt, as their index has it. */
export const RETRYING = `state = ${SCHEDULED} AND run > uncounted`

export interface Selection {
  /** The lanes in which a row may match. */
  readonly laneIds: readonly number[]
  /** True if not every lane is selected. */
  readonly narrow: boolean
  /** The number of rows that match, by the counters. */
  readonly matches: number
  /** The number of rows in the file. */
  readonly total: number
  /** Returns the number of index entries that have all jobs in these states; Infinity if no index serves. */
  scanned(states: readonly StateCode[] | undefined): number
  /** Returns the newest row numbers below `before`, newest first. */
  seqs(before: number, limit: number): number[]
}

type RawLane = [id: number, queue: string, name: string, ...counts: number[]]

const LISTED = '(SELECT value FROM json_each(?))'

export function prepareSelection(db: Database): (filter: ListFilter) => Selection {
  const counters = db
    .prepare(`SELECT lane.id, queue.name, lane.name, ${STATES.join(', ')}, retrying FROM lane JOIN queue ON queue.id = lane.queue`)
    .raw()
  const parked = db.prepare('SELECT coalesce(sum(parked), 0) FROM gate').pluck()
  const seqsOf = prepareStateSeqs(db)

  return (filter) => {
    const { queue, name, retrying } = filter
    const lanes = counters.all() as RawLane[]
    const chosen = lanes.filter((lane) => (queue === undefined || lane[1] === queue) && (name === undefined || lane[2] === name))
    const laneIds = chosen.filter((lane) => sum([lane], filter) > 0).map(([id]) => id)
    const matches = sum(chosen, filter)
    const scannedIn = (state: StateCode): number => {
      // The engine knows which jobs are active; on disk only a walk finds them.
      if (state === BLOCKED || state === ACTIVE) return Number.POSITIVE_INFINITY
      // The indexes of scheduled jobs do not know the lane.
      if (state === SCHEDULED) return sum(lanes, { state, ...(retrying === true && { retrying }) })
      // Neither does the index of parked ones.
      return sum(chosen, { state }) + (state === WAITING ? (parked.get() as number) : 0)
    }
    const scanned = (states: readonly StateCode[] | undefined): number =>
      states === undefined ? Number.POSITIVE_INFINITY : states.reduce<number>((rows, state) => rows + scannedIn(state), 0)
    const seqs = (before: number, limit: number): number[] => seqsOf(laneIds, filter.state as StateCode, before, limit)
    return { laneIds, narrow: chosen.length < lanes.length, matches, total: sum(lanes, {}), scanned, seqs }
  }
}

/**
 * Returns the newest row numbers of some lanes in one state (not active, not blocked) below a number, newest first. It reads all
 * of them.
 */
export function prepareStateSeqs(db: Database): (laneIds: readonly number[], state: StateCode, before: number, limit: number) => number[] {
  const waiting = db.prepare(
    `SELECT seq FROM job WHERE state = 1 AND gate IS NULL AND lane IN ${LISTED} AND seq < ?
UNION ALL SELECT job.seq FROM gate CROSS JOIN job ON job.gate = gate.id WHERE job.lane IN ${LISTED} AND job.seq < ?
ORDER BY seq DESC LIMIT ?`,
  )
  const failed = db.prepare(
    `SELECT seq FROM job INDEXED BY job_failed WHERE lane IN ${LISTED} AND state = 5 AND seq < ? ORDER BY seq DESC LIMIT ?`,
  )
  const scheduled = db.prepare(
    `SELECT seq FROM job INDEXED BY job_scheduled WHERE state = 0 AND +lane IN ${LISTED} AND seq < ? ORDER BY seq DESC LIMIT ?`,
  )
  for (const statement of [waiting, failed, scheduled]) statement.pluck()
  const finished = prepareFinishedSeqs(db)

  return (laneIds, state, before, limit) => {
    const list = JSON.stringify(laneIds)
    switch (state) {
      case SCHEDULED:
        return scheduled.all(list, before, limit) as number[]
      case WAITING:
        return waiting.all(list, before, list, before, limit) as number[]
      case FAILED:
        return failed.all(list, before, limit) as number[]
      default:
        return finished(laneIds, state, before, limit)
    }
  }
}

/** Reads completed and cancelled jobs from the batches in which they finished, and returns those still in that state. */
function prepareFinishedSeqs(db: Database): (laneIds: readonly number[], state: StateCode, before: number, limit: number) => number[] {
  const batches = db
    .prepare(
      ['finished', 'kept']
        .map(
          (table) => `SELECT seqs FROM ${table} WHERE queue IN (SELECT DISTINCT lane.queue FROM lane WHERE lane.id IN ${LISTED})
AND state = ? AND lane IN ${LISTED}`,
        )
        .join('\nUNION ALL '),
    )
    .pluck()
  const still = db
    .prepare('SELECT job.seq FROM json_each(?) AS listed CROSS JOIN job ON job.seq = listed.value WHERE job.state = ?')
    .pluck()
  return (laneIds, state, before, limit) => {
    const list = JSON.stringify(laneIds)
    const seqs = new Set<number>()
    for (const packed of batches.iterate(list, state, list, list, state, list) as Iterable<Uint8Array>)
      for (const seq of seqsIn(unpackRanges(packed))) if (seq < before) seqs.add(seq)
    const newest = [...seqs].sort((a, b) => b - a)
    const found: number[] = []
    for (let next = 0; next < newest.length && found.length < limit; next += limit)
      found.push(...(still.all(JSON.stringify(newest.slice(next, next + limit)), state) as number[]))
    return found.slice(0, limit)
  }
}

const ALL_STATES = [...STATES.keys()] as StateCode[]

/** Returns the number of rows of some lanes in the states of a filter. */
function sum(lanes: readonly RawLane[], { retrying, ...filter }: Pick<ListFilter, 'state' | 'states' | 'retrying'>): number {
  const states = statesOf(filter) ?? ALL_STATES
  let rows = 0
  for (const lane of lanes) {
    const waiting = lane[3 + STATES.length] as number
    if (retrying === true) rows += waiting
    else for (const state of states) rows += lane[3 + state] as number
    if (retrying === false && states.includes(SCHEDULED)) rows -= waiting
  }
  return rows
}

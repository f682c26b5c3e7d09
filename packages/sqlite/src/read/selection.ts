/** What a list's filter selects: which lanes, about how many rows, and their row numbers through the indexes by state. */
import { ACTIVE, BLOCKED, type ListFilter, SCHEDULED, STATES, type StateCode, WAITING } from '@millrace/core'
import type { Database } from '../driver.ts'

export interface Selection {
  readonly laneIds: readonly number[]
  /** Whether not every lane is selected. */
  readonly narrow: boolean
  /** Rows that match, by the counters. */
  readonly matches: number
  /** Rows in the file. */
  readonly total: number
  /** Index entries that `seqs` reads; Infinity where no index serves. */
  readonly scanned: number
  /** The newest row numbers below `before`, newest first. */
  seqs(before: number, limit: number): number[]
}

type RawLane = [id: number, queue: string, name: string, ...counts: number[]]

const LISTED = '(SELECT value FROM json_each(?))'

export function prepareSelection(db: Database): (filter: ListFilter) => Selection {
  const counters = db
    .prepare(`SELECT lane.id, queue.name, lane.name, ${STATES.join(', ')} FROM lane JOIN queue ON queue.id = lane.queue`)
    .raw()
  const waiting = db.prepare(`SELECT seq FROM job WHERE state = 1 AND lane IN ${LISTED} AND seq < ? ORDER BY seq DESC LIMIT ?`)
  const finished = db.prepare(
    `SELECT seq FROM job WHERE lane IN ${LISTED} AND state = ? AND finished_at IS NOT NULL AND seq < ? ORDER BY seq DESC LIMIT ?`,
  )
  const scheduled = db.prepare(
    `SELECT seq FROM job INDEXED BY job_scheduled WHERE state = 0 AND +lane IN ${LISTED} AND seq < ? ORDER BY seq DESC LIMIT ?`,
  )
  const active = db.prepare(
    `SELECT seq FROM job INDEXED BY job_active WHERE state = 2 AND +lane IN ${LISTED} AND seq < ? ORDER BY seq DESC LIMIT ?`,
  )
  for (const statement of [waiting, finished, scheduled, active]) statement.pluck()

  return ({ state, queue, name }) => {
    const lanes = counters.all() as RawLane[]
    const chosen = lanes.filter((lane) => (queue === undefined || lane[1] === queue) && (name === undefined || lane[2] === name))
    const laneIds = chosen.map(([id]) => id)
    const list = JSON.stringify(laneIds)
    const matches = sum(chosen, state)
    const scanned = (): number => {
      if (state === undefined || state === BLOCKED) return Number.POSITIVE_INFINITY
      // These two indexes do not know the lane.
      return state === SCHEDULED || state === ACTIVE ? sum(lanes, state) : matches
    }
    const seqs = (before: number, limit: number): number[] => {
      switch (state) {
        case SCHEDULED:
          return scheduled.all(list, before, limit) as number[]
        case WAITING:
          return waiting.all(list, before, limit) as number[]
        case ACTIVE:
          return active.all(list, before, limit) as number[]
        default:
          return finished.all(list, state, before, limit) as number[]
      }
    }
    return { laneIds, narrow: chosen.length < lanes.length, matches, total: sum(lanes, undefined), scanned: scanned(), seqs }
  }
}

/** Rows of some lanes in one state, or in all. */
function sum(lanes: readonly RawLane[], state: StateCode | undefined): number {
  let rows = 0
  for (const lane of lanes) {
    for (let code = 0; code < STATES.length; code++) if (state === undefined || state === code) rows += lane[3 + code] as number
  }
  return rows
}

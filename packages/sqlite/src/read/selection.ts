/** Reads what a list's filter selects: the lanes, and the row numbers of their jobs through the indexes by state. */
import {
  BLOCKED,
  CANCELLED,
  COMPLETED,
  FAILED,
  type ListFilter,
  SCHEDULED,
  STATES,
  type StateCode,
  statesOf,
  WAITING,
} from '@millrace/core'
import { type SqlValue, seqsIn, unpackRanges } from '@millrace/sql'
import type { Database } from '../driver.ts'

/** Holds for the jobs that wait for another attempt, as their index has it. */
export const RETRYING = `state = ${SCHEDULED} AND run > uncounted`

/** The most lanes whose counters a list reads. If there are more, it does without them: its cost must not grow with the number of names. */
const LANES_MAX = 256

/** The lanes in which a job may be: those of the ids, or those of the queue. Both are null for all lanes. */
export interface Lanes {
  readonly ids: readonly number[] | null
  readonly queue: number | null
}

export interface Selection {
  readonly lanes: Lanes
  /** The number of rows that match, by the counters; Infinity if it is unknown. */
  readonly matches: number
}

type RawLane = [id: number, queue: number, retrying: number, ...counts: number[]]

const LISTED = '(SELECT value FROM json_each(?))'

/** Holds for the rows of `job` in some lanes. `laneValues` are its parameters. */
export const IN_LANES = `(? IS NULL OR job.lane IN ${LISTED}) AND (? IS NULL OR (SELECT lane.queue FROM lane WHERE lane.id = job.lane) = ?)`

export function laneValues({ ids, queue }: Lanes): readonly SqlValue[] {
  const listed = ids === null ? null : JSON.stringify(ids)
  return [listed, listed, queue, queue]
}

export function prepareSelection(db: Database): (filter: ListFilter) => Selection {
  const lanesOf = (from: string, order: string) =>
    db.prepare(`SELECT lane.id, lane.queue, retrying, ${STATES.join(', ')} FROM ${from} ORDER BY ${order} LIMIT ${LANES_MAX + 1}`).raw()
  const all = lanesOf('lane', 'lane.id')
  const ofQueue = lanesOf('queue CROSS JOIN lane ON lane.queue = queue.id WHERE queue.name = ?', 'lane.name')
  const named = lanesOf('queue CROSS JOIN lane ON lane.queue = queue.id AND lane.name = ?', 'queue.id')
  const namedInQueue = lanesOf('queue CROSS JOIN lane ON lane.queue = queue.id AND lane.name = ? WHERE queue.name = ?', 'lane.name')
  const everyNamed = db.prepare('SELECT lane.id FROM queue CROSS JOIN lane ON lane.queue = queue.id AND lane.name = ?').pluck()

  const read = ({ queue, name }: ListFilter): readonly RawLane[] => {
    if (name === undefined) return (queue === undefined ? all.all() : ofQueue.all(queue)) as RawLane[]
    return (queue === undefined ? named.all(name) : namedInQueue.all(name, queue)) as RawLane[]
  }

  return (filter) => {
    const { queue, name } = filter
    const lanes = read(filter)
    const isAll = queue === undefined && name === undefined
    if (lanes.length <= LANES_MAX) {
      const ids = lanes.filter((lane) => sum([lane], filter) > 0).map(([id]) => id)
      return { lanes: { ids: isAll ? null : ids, queue: null }, matches: sum(lanes, filter) }
    }
    const matches = Number.POSITIVE_INFINITY
    if (isAll) return { lanes: { ids: null, queue: null }, matches }
    // A name may be in any number of queues.
    if (name !== undefined) return { lanes: { ids: everyNamed.all(name) as number[], queue: null }, matches }
    return { lanes: { ids: null, queue: (lanes[0] as RawLane)[1] }, matches }
  }
}

/** Returns all row numbers of some lanes in one state, in any order; undefined if it would read more than so many entries of an index. */
export type StateSeqs = (lanes: Lanes, state: StateCode, entriesMax: number) => readonly number[] | undefined

/** No index has the active jobs. */
export function prepareStateSeqs(db: Database): StateSeqs {
  // No job has the number 0: it stands for an entry of another lane, which counts as well.
  const seq = `CASE WHEN ${IN_LANES} THEN job.seq ELSE 0 END`
  const prepare = (sql: string) => db.prepare(`${sql} LIMIT ?`).pluck()
  const every = {
    [SCHEDULED]: prepare(`SELECT ${seq} FROM job INDEXED BY job_scheduled WHERE state = 0`),
    [WAITING]: prepare(`SELECT ${seq} FROM job INDEXED BY job_waiting WHERE state = 1 AND gate IS NULL`),
    [BLOCKED]: prepare(`SELECT ${seq} FROM flow_gate CROSS JOIN job ON job.seq = flow_gate.seq AND job.state = 3 WHERE flow_gate.seq > 0`),
    [FAILED]: prepare(`SELECT ${seq} FROM job INDEXED BY job_failed WHERE state = 5`),
  }
  const parked = prepare(`SELECT ${seq} FROM job INDEXED BY job_parked WHERE gate IS NOT NULL`)
  const listed = {
    // The index of parked jobs does not have the lane.
    [WAITING]: prepare(`SELECT seq FROM job WHERE state = 1 AND gate IS NULL AND lane IN ${LISTED}
UNION ALL SELECT job.seq FROM gate CROSS JOIN job ON job.gate = gate.id WHERE job.lane IN ${LISTED}`),
    [FAILED]: prepare(`SELECT seq FROM job INDEXED BY job_failed WHERE lane IN ${LISTED} AND state = 5`),
  }
  const finished = prepareFinishedSeqs(db)

  const within = (seqs: readonly number[], entriesMax: number) => (seqs.length > entriesMax ? undefined : seqs.filter((each) => each > 0))
  const ofEvery = (statement: typeof parked, lanes: Lanes, entriesMax: number) =>
    within(statement.all(...laneValues(lanes), entriesMax + 1) as number[], entriesMax)
  const ofListed = (state: typeof WAITING | typeof FAILED, ids: string, entriesMax: number) =>
    within(listed[state].all(...(state === WAITING ? [ids, ids] : [ids]), entriesMax + 1) as number[], entriesMax)
  const ofLanes = (lanes: Lanes, state: typeof WAITING | typeof FAILED, entriesMax: number) =>
    lanes.ids === null ? ofEvery(every[state], lanes, entriesMax) : ofListed(state, JSON.stringify(lanes.ids), entriesMax)

  return (lanes, state, entriesMax) => {
    switch (state) {
      case SCHEDULED:
      case BLOCKED:
        return ofEvery(every[state], lanes, entriesMax)
      case FAILED:
        return ofLanes(lanes, state, entriesMax)
      case WAITING: {
        const found = ofLanes(lanes, state, entriesMax)
        if (found === undefined || lanes.ids !== null) return found
        const behind = ofEvery(parked, lanes, entriesMax)
        return behind && [...found, ...behind]
      }
      case COMPLETED:
      case CANCELLED:
        return finished(lanes, state, entriesMax)
      default:
        return undefined
    }
  }
}

/**
 * Reads completed and cancelled jobs from the batches in which they finished, and returns those that are so still, in these lanes: one may have
 * come back since, taken another queue, and ended there.
 */
function prepareFinishedSeqs(db: Database): StateSeqs {
  const queuesOf = prepareQueuesOf(db)
  const batches = db
    .prepare(
      ['finished', 'kept'].map((table) => `SELECT lane, seqs FROM ${table} WHERE queue IN ${LISTED} AND state = ?`).join('\nUNION ALL '),
    )
    .raw()
  const still = db
    .prepare(`SELECT job.seq FROM json_each(?) AS listed CROSS JOIN job ON job.seq = listed.value WHERE job.state = ? AND ${IN_LANES}`)
    .pluck()
  return (lanes, state, entriesMax) => {
    const queues = JSON.stringify(queuesOf(lanes))
    const ids = lanes.ids === null ? undefined : new Set(lanes.ids)
    const seqs = new Set<number>()
    let entries = 0
    for (const [lane, packed] of batches.iterate(queues, state, queues, state) as Iterable<[number, Uint8Array]>) {
      if (++entries > entriesMax) return undefined
      if (ids?.has(lane) === false) continue
      for (const seq of seqsIn(unpackRanges(packed))) seqs.add(seq)
      if (seqs.size > entriesMax) return undefined
    }
    return still.all(JSON.stringify([...seqs]), state, ...laneValues(lanes)) as number[]
  }
}

/** Returns the ids of the queues that lanes are in. */
export function prepareQueuesOf(db: Database): (lanes: Lanes) => readonly number[] {
  const all = db.prepare('SELECT id FROM queue').pluck()
  const some = db.prepare(`SELECT DISTINCT queue FROM lane WHERE id IN ${LISTED}`).pluck()
  return ({ ids, queue }) => {
    if (ids !== null) return some.all(JSON.stringify(ids)) as number[]
    return queue === null ? (all.all() as number[]) : [queue]
  }
}

/** Returns the ids of those of some lanes that have failed jobs, by hopping from one to the next in their index. */
export function prepareFailedLanes(db: Database): (lanes: Lanes) => readonly number[] {
  const first = (lane: string) => `(SELECT min(lane) FROM job WHERE state = ${FAILED} AND lane > ${lane})`
  const hops = db
    .prepare(
      `WITH RECURSIVE hop (lane) AS (SELECT ${first('0')} UNION ALL SELECT ${first('hop.lane')} FROM hop WHERE hop.lane IS NOT NULL)
SELECT hop.lane FROM hop WHERE hop.lane IS NOT NULL AND (? IS NULL OR (SELECT queue FROM lane WHERE lane.id = hop.lane) = ?)`,
    )
    .pluck()
  return ({ ids, queue }) => ids ?? (hops.all(queue, queue) as number[])
}

const ALL_STATES = [...STATES.keys()] as StateCode[]

/** Returns the number of rows of some lanes in the states of a filter. */
function sum(lanes: readonly RawLane[], { retrying, ...filter }: Pick<ListFilter, 'state' | 'states' | 'retrying'>): number {
  const states = statesOf(filter) ?? ALL_STATES
  let rows = 0
  for (const lane of lanes) {
    const waiting = lane[2]
    if (retrying === true) rows += waiting
    else for (const state of states) rows += lane[3 + state] as number
    if (retrying === false && states.includes(SCHEDULED)) rows -= waiting
  }
  return rows
}

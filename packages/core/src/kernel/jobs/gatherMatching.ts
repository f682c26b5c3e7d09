/** Reads the jobs for a slice of `cancelMany`, `updateMany` and their like, as they are on disk before the turn. */
import { ACTIVE, FAILED, SCHEDULED, type StateCode, WAITING } from '../../lifecycle.ts'
import { LIMITS } from '../../limits.ts'
import type { ManyCommand } from '../../manageCommands.ts'
import { isOfLastRun, type ListFilter, statesOf } from '../../options/filter.ts'
import type { Job } from '../records/job.ts'
import { countOf, type Lane } from '../records/lane.ts'
import type { Facts } from '../state/facts.ts'
import type { Plan } from '../state/plan.ts'
import type { Tables } from '../state/tables.ts'
import { impliedFilter, matchesFilter } from './matchesFilter.ts'

/** The states whose jobs a store finds by their index. */
const INDEXED: ReadonlySet<StateCode> = new Set([FAILED, WAITING, SCHEDULED])

export function gatherMatching(plan: Plan, tables: Tables, facts: Facts, command: ManyCommand): void {
  const filter = impliedFilter(command.filter)
  if (filter === undefined) return
  const { before = Number.MAX_SAFE_INTEGER } = command
  const limit = sliceOf(command)
  const { search: text } = command
  if (filter.state === ACTIVE && text === undefined && filter.data === undefined) {
    // Running jobs are known here, and no index on disk has them.
    const running = tables.running().filter((job) => job.seq < before && matches(filter, job))
    const jobs = running.sort((a, b) => b.seq - a.seq).slice(0, limit)
    for (const job of jobs) plan.mayRevive(job)
    if (isOfLastRun(filter)) facts.noteRuns(jobs)
    facts.setMatching(command, jobs, jobs.length < running.length ? (jobs.at(-1) as Job).seq : null)
    return
  }
  const { tag, finishedAfter, finishedBefore } = filter
  const states = statesOf(filter) ?? []
  const lanes = [...tables.lanesById.values()].filter((lane) => countIn(lane, filter) > 0)
  const chosen = lanes.filter((lane) => isOf(filter, lane))
  if (chosen.length === 0) return
  // The indexes of scheduled jobs do not contain the lane.
  const few = sum(states.includes(SCHEDULED) ? lanes : chosen, filter) <= LIMITS.walkRows
  // A span of time may hold few of many failed jobs: the store looks.
  const inSpan = filter.state === FAILED && (finishedAfter ?? finishedBefore) !== undefined
  const indexed = (few || inSpan) && tag === undefined && states.length > 0 && states.every((state) => INDEXED.has(state))
  const laneIds = indexed || chosen.length < lanes.length ? chosen.map(({ id }) => id) : undefined
  plan.ask('matching', [{ laneIds, filter, text, indexed }, before, limit], ({ rows, next }) => {
    const jobs = rows.map((row) => facts.remember(row))
    for (const job of jobs) plan.mayRevive(job)
    if (isOfLastRun(filter)) facts.noteRuns(jobs)
    facts.setMatching(command, jobs, next)
  })
}

/** Judges a job as memory has it: of its last run, only one that goes on is known there. */
export function matches(filter: ListFilter, job: Job): boolean {
  const lastRun = job.state === ACTIVE ? { worker: job.session?.intro.worker ?? job.worker } : undefined
  return matchesFilter(filter, job, { queue: job.lane.queue.name, name: job.lane.name }, lastRun)
}

export function sliceOf({ limit }: ManyCommand): number {
  return Math.min(limit, LIMITS.sliceRows)
}

function isOf({ queue, name }: ListFilter, lane: Lane): boolean {
  return (queue === undefined || lane.queue.name === queue) && (name === undefined || lane.name === name)
}

type OfStates = Pick<ListFilter, 'state' | 'states' | 'retrying'>

function countIn(lane: Lane, filter: OfStates): number {
  if (filter.retrying === true) return lane.retrying
  const states = statesOf(filter)
  return states === undefined
    ? lane.counts.reduce((all, count) => all + count, 0)
    : states.reduce<number>((all, state) => all + countOf(lane, state), 0)
}

function sum(lanes: readonly Lane[], filter: OfStates): number {
  return lanes.reduce((all, lane) => all + countIn(lane, filter), 0)
}

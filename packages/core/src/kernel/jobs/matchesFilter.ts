/** Judges jobs by the fields of a filter: records of the tables, and rows. */
import { fingerprintOf } from '../../fingerprint.ts'
import { ACTIVE, COMPLETED, isFinal, SCHEDULED, type StateCode } from '../../lifecycle.ts'
import { LIMITS } from '../../limits.ts'
import { type FilterField, type ListFilter, statesOf } from '../../options/filter.ts'
import type { LastRunView } from '../../replies.ts'
import { type Job, waitsForRetry } from '../records/job.ts'
import { jsonJudge } from './containment.ts'

/** The fields of a job that a filter judges, beside its place. */
type Judged = Pick<Job, 'state' | 'run' | 'uncounted' | 'extras' | 'node' | 'enqueuedAt' | 'finishedAt' | 'data'>

/** The part of a job's last run that a filter judges. Its message is whole. */
export type JudgedRun = Pick<LastRunView, 'worker' | 'error'>

interface Lane {
  readonly queue: string
  readonly name: string
}

type Judge<Wanted> = (wanted: Wanted, job: Judged, lane: Lane, lastRun: JudgedRun | undefined) => boolean

const JUDGES: { readonly [Field in FilterField]: Judge<NonNullable<ListFilter[Field]>> } = {
  state: (state, job) => job.state === state,
  queue: (queue, _job, lane) => lane.queue === queue,
  name: (name, _job, lane) => lane.name === name,
  tag: (tag, { extras }) => extras?.tags?.includes(tag) === true,
  key: (key, { extras }) => extras?.concurrencyKey === key,
  schedule: (schedule, { extras }) => extras?.schedule === schedule,
  retrying: (retrying, job) => waitsForRetry(job) === retrying,
  enqueuedAfter: (time, { enqueuedAt }) => enqueuedAt >= time,
  enqueuedBefore: (time, { enqueuedAt }) => enqueuedAt < time,
  finishedAfter: (time, { state, finishedAt }) => isFinal(state) && finishedAt >= time,
  finishedBefore: (time, { state, finishedAt }) => isFinal(state) && finishedAt < time,
  worker: (worker, _job, _lane, lastRun) => lastRun?.worker === worker,
  error: (error, _job, _lane, lastRun) => lastRun?.error?.name === error,
  fingerprint: (fingerprint, _job, _lane, lastRun) => lastRun?.error !== undefined && fingerprintOf(lastRun.error) === fingerprint,
  states: (states, job) => states.includes(job.state),
  data: (wanted, { data }) => typeof data === 'string' && jsonJudge(wanted)(data),
  meta: (wanted, { extras }) => extras?.meta !== undefined && jsonJudge(wanted)(extras.meta),
  // The jobs of a flow are created in one commit.
  flow: ({ seq, node, enqueuedAt }, job) => job.extras?.flow?.first === seq && job.node === node && job.enqueuedAt === enqueuedAt,
}

export function matchesFilter(filter: ListFilter, job: Judged, lane: Lane, lastRun?: JudgedRun): boolean {
  for (const field in filter) {
    const wanted = filter[field as FilterField]
    if (wanted !== undefined && !(JUDGES[field as FilterField] as (...args: unknown[]) => boolean)(wanted, job, lane, lastRun)) return false
  }
  return true
}

/** Returns the rows among which the jobs of a filter are: those of a flow follow one another. */
export function spanOf({ flow }: ListFilter): { readonly first: number; readonly last: number } {
  return flow === undefined ? WHOLE : { first: flow.seq, last: flow.seq + LIMITS.jobsPerCommand - 1 }
}

const WHOLE = { first: 0, last: Number.MAX_SAFE_INTEGER }

/** Returns the filter with only the states that its other fields leave possible, or undefined if no job can fit. */
export function impliedFilter(filter: ListFilter): ListFilter | undefined {
  const { retrying, finishedAfter, finishedBefore, error, fingerprint } = filter
  const hasError = (error ?? fingerprint) !== undefined
  const needsEnd = finishedAfter !== undefined || finishedBefore !== undefined
  if (needsEnd && retrying === true) return undefined
  const isPossible = (state: StateCode): boolean => {
    // The last run of these has no error.
    if (hasError && (state === ACTIVE || state === COMPLETED)) return false
    return needsEnd ? isFinal(state) : retrying !== true || state === SCHEDULED
  }
  const asked = statesOf(filter) ?? (retrying === true ? [SCHEDULED] : undefined)
  if (asked === undefined) return filter
  const states = asked.filter(isPossible)
  if (states.length === 0) return undefined
  const { state: _state, states: _states, ...others } = filter
  return states.length === 1 ? { ...others, state: states[0] as StateCode } : { ...others, states }
}

/** Every read of the store, over one connection: the writer's own, or a reader thread's. */
import type { Store } from '@millrace/core/kernel'
import type { Database } from '../driver.ts'
import { prepareArrivals } from './arrivals.ts'
import { prepareAttempts, prepareLastError, prepareLogLines } from './attempts.ts'
import { prepareEnds, prepareEvents } from './events.ts'
import { prepareFailed } from './failed.ts'
import { prepareFailures } from './failures.ts'
import { prepareFlowJobs } from './flowJobs.ts'
import { prepareFlowList } from './flowList.ts'
import { prepareChildren, prepareFlowDue, prepareFlowLeft, prepareGates, prepareParents } from './flows.ts'
import { prepareHistories, prepareMinutes } from './history.ts'
import { prepareJobs, prepareJobsInPlace, preparePayload } from './jobs.ts'
import { prepareJournal } from './journal.ts'
import { prepareIdempotent, prepareKeyExpiry, prepareUnique } from './keys.ts'
import { prepareKeyTurns } from './keyTurns.ts'
import { prepareWithLastRuns } from './lastRuns.ts'
import { prepareList } from './list.ts'
import { prepareLoad } from './load.ts'
import { prepareMatching } from './matching.ts'
import { preparePrunable } from './prunable.ts'
import { prepareDueSchedules, prepareSchedulePage, prepareSchedules } from './schedules.ts'
import { prepareSourced, prepareSourceOffsets } from './sources.ts'
import { prepareDeadlines, prepareDue, prepareExpired } from './timed.ts'
import { prepareOldestParked, prepareOldestWaiting, prepareParked, prepareWindow } from './window.ts'

export const READ_NAMES = [
  'load',
  'jobs',
  'idempotent',
  'keyExpiry',
  'unique',
  'sourced',
  'offsets',
  'dependencies',
  'flowDue',
  'children',
  'flowLeft',
  'window',
  'parked',
  'turns',
  'arrivals',
  'due',
  'expired',
  'failed',
  'matching',
  'prunable',
  'deadlines',
  'jobsInPlace',
  'attempts',
  'logLines',
  'withLastRuns',
  'lastError',
  'parents',
  'flowJobs',
  'listFlows',
  'list',
  'payload',
  'oldestWaiting',
  'oldestParked',
  'events',
  'ends',
  'journal',
  'schedules',
  'dueSchedules',
  'schedulePage',
  'minutes',
  'histories',
  'failures',
] as const satisfies readonly (keyof Store)[]

export type Reads = Pick<Store, (typeof READ_NAMES)[number]>

export function prepareReads(db: Database): Reads {
  const minutes = prepareMinutes(db)
  return {
    load: prepareLoad(db),
    jobs: prepareJobs(db),
    idempotent: prepareIdempotent(db),
    keyExpiry: prepareKeyExpiry(db),
    unique: prepareUnique(db),
    sourced: prepareSourced(db),
    offsets: prepareSourceOffsets(db),
    dependencies: prepareGates(db),
    flowDue: prepareFlowDue(db),
    children: prepareChildren(db),
    flowLeft: prepareFlowLeft(db),
    window: prepareWindow(db),
    parked: prepareParked(db),
    turns: prepareKeyTurns(db),
    arrivals: prepareArrivals(db),
    due: prepareDue(db),
    expired: prepareExpired(db),
    failed: prepareFailed(db),
    matching: prepareMatching(db),
    prunable: preparePrunable(db),
    deadlines: prepareDeadlines(db),
    jobsInPlace: prepareJobsInPlace(db),
    attempts: prepareAttempts(db),
    logLines: prepareLogLines(db),
    withLastRuns: prepareWithLastRuns(db),
    lastError: prepareLastError(db),
    parents: prepareParents(db),
    flowJobs: prepareFlowJobs(db),
    listFlows: prepareFlowList(db),
    list: prepareList(db),
    payload: preparePayload(db),
    oldestWaiting: prepareOldestWaiting(db),
    oldestParked: prepareOldestParked(db),
    events: prepareEvents(db),
    ends: prepareEnds(db),
    journal: prepareJournal(db),
    schedules: prepareSchedules(db),
    dueSchedules: prepareDueSchedules(db),
    schedulePage: prepareSchedulePage(db),
    minutes,
    histories: prepareHistories(db, minutes),
    failures: prepareFailures(db),
  }
}

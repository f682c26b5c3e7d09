/** Every read of the store, over one connection: the writer's own, or a reader thread's. */
import type { Store } from '@millrace/core/kernel'
import { prepareSharedReads } from '@millrace/sql'
import { type Database, queriesOf } from '../driver.ts'
import { prepareArrivals } from './arrivals.ts'
import { prepareAttempts } from './attempts.ts'
import { prepareTurnsAfter } from './events.ts'
import { prepareFailed } from './failed.ts'
import { prepareFailures } from './failures.ts'
import { prepareFlowJobs } from './flowJobs.ts'
import { prepareChildren, prepareGates, prepareParents } from './flows.ts'
import { prepareFlowTally } from './flowTally.ts'
import { prepareHistories } from './history.ts'
import { prepareJobs, prepareJobsInPlace, preparePayload } from './jobs.ts'
import { prepareJournal } from './journal.ts'
import { prepareIdempotent, prepareUnique } from './keys.ts'
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
  'step',
  'steps',
  'messages',
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
  const tally = prepareFlowTally(db)
  const shared = prepareSharedReads({
    prepare: queriesOf(db),
    turns: prepareTurnsAfter(db),
    tally,
    stepValue: { columns: 'value, NULL', bytes: 'octet_length(value)' },
    indexBack: 'INDEXED BY flow_due_back',
  })
  return {
    ...shared,
    // A reader's statements see one moment only within a transaction. Otherwise a flow could be gone between two of them.
    listFlows: db.transaction(shared.listFlows),
    load: prepareLoad(db),
    jobs: prepareJobs(db),
    idempotent: prepareIdempotent(db),
    unique: prepareUnique(db),
    sourced: prepareSourced(db),
    offsets: prepareSourceOffsets(db),
    dependencies: prepareGates(db),
    children: prepareChildren(db),
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
    withLastRuns: prepareWithLastRuns(db),
    parents: prepareParents(db),
    flowJobs: prepareFlowJobs(db, tally),
    list: prepareList(db),
    payload: preparePayload(db),
    oldestWaiting: prepareOldestWaiting(db),
    oldestParked: prepareOldestParked(db),
    journal: prepareJournal(db),
    schedules: prepareSchedules(db),
    dueSchedules: prepareDueSchedules(db),
    schedulePage: prepareSchedulePage(db),
    histories: prepareHistories(db, shared.minutes),
    failures: prepareFailures(db),
  }
}

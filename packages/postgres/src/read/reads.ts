/** Every read of the store, over one connection. */
import type { Store } from '@millrace/core/kernel'
import { prepareSharedReads } from '@millrace/sql'
import type { Connection } from '../connection.ts'
import { LowWaterMarks } from '../lowWaterMarks.ts'
import { prepareAttempts, prepareWithLastRuns } from './attempts.ts'
import { prepareJournal, prepareTurnsAfter } from './events.ts'
import { prepareFlowJobs } from './flowJobs.ts'
import { prepareChildren, prepareGates, prepareParents } from './flows.ts'
import { prepareFlowTally } from './flowTally.ts'
import { prepareFailures, prepareHistories } from './history.ts'
import { prepareJobs, prepareJobsInPlace, preparePayload, prepareSourced, prepareSourceOffsets } from './jobs.ts'
import { prepareIdempotent, prepareUnique } from './keys.ts'
import {
  prepareArrivals,
  prepareFailed,
  prepareKeyTurns,
  prepareOldestParked,
  prepareOldestWaiting,
  prepareParked,
  prepareWindow,
} from './lines.ts'
import { prepareList, prepareMatching } from './list.ts'
import { prepareLoad } from './load.ts'
import { preparePrunable } from './prunable.ts'
import { prepareDueSchedules, prepareSchedulePage, prepareSchedules } from './schedules.ts'
import { prepareDeadlines, prepareDue, prepareExpired } from './timed.ts'

export type Reads = Omit<Store, 'read' | 'write' | 'reopen' | 'close' | 'care'>

export function prepareReads(connection: Connection, marks = new LowWaterMarks()): Reads {
  const tally = prepareFlowTally(connection)
  const shared = prepareSharedReads({
    prepare: connection.prepare,
    turns: prepareTurnsAfter(connection),
    tally,
    stepValue: { columns: 'value, value_bytes', bytes: 'coalesce(octet_length(value), octet_length(value_bytes))' },
  })
  return {
    ...shared,
    load: prepareLoad(connection),
    jobs: prepareJobs(connection),
    idempotent: prepareIdempotent(connection),
    unique: prepareUnique(connection),
    sourced: prepareSourced(connection),
    offsets: prepareSourceOffsets(connection),
    dependencies: prepareGates(connection),
    children: prepareChildren(connection),
    window: prepareWindow(connection),
    parked: prepareParked(connection),
    turns: prepareKeyTurns(connection),
    arrivals: prepareArrivals(connection),
    due: prepareDue(connection),
    expired: prepareExpired(connection),
    failed: prepareFailed(connection),
    matching: prepareMatching(connection),
    prunable: preparePrunable(connection, marks),
    deadlines: prepareDeadlines(connection),
    jobsInPlace: prepareJobsInPlace(connection),
    attempts: prepareAttempts(connection),
    withLastRuns: prepareWithLastRuns(connection),
    parents: prepareParents(connection),
    flowJobs: prepareFlowJobs(connection, tally),
    list: prepareList(connection),
    payload: preparePayload(connection),
    oldestWaiting: prepareOldestWaiting(connection),
    oldestParked: prepareOldestParked(connection),
    journal: prepareJournal(connection, marks),
    schedules: prepareSchedules(connection),
    dueSchedules: prepareDueSchedules(connection),
    schedulePage: prepareSchedulePage(connection),
    histories: prepareHistories(connection, shared.minutes),
    failures: prepareFailures(connection),
  }
}

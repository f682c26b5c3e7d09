/** Every read of the store, over one connection. */
import type { Store } from '@millrace/core/kernel'
import type { Connection } from '../connection.ts'
import { Floors } from '../floors.ts'
import { prepareAttempts, prepareLastError, prepareLogLines, prepareWithLastRuns } from './attempts.ts'
import { prepareEnds, prepareEvents, prepareJournal } from './events.ts'
import { prepareFlowJobs } from './flowJobs.ts'
import { prepareFlowList } from './flowList.ts'
import { prepareChildren, prepareFlowDue, prepareFlowLeft, prepareGates, prepareParents } from './flows.ts'
import { prepareFailures, prepareHistories, prepareMinutes } from './history.ts'
import { prepareJobs, prepareJobsInPlace, preparePayload, prepareSourced, prepareSourceOffsets } from './jobs.ts'
import { prepareIdempotent, prepareKeyExpiry, prepareUnique } from './keys.ts'
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

export function prepareReads(connection: Connection, floors = new Floors()): Reads {
  const minutes = prepareMinutes(connection)
  return {
    load: prepareLoad(connection),
    jobs: prepareJobs(connection),
    idempotent: prepareIdempotent(connection),
    keyExpiry: prepareKeyExpiry(connection),
    unique: prepareUnique(connection),
    sourced: prepareSourced(connection),
    offsets: prepareSourceOffsets(connection),
    dependencies: prepareGates(connection),
    flowDue: prepareFlowDue(connection),
    children: prepareChildren(connection),
    flowLeft: prepareFlowLeft(connection),
    window: prepareWindow(connection),
    parked: prepareParked(connection),
    turns: prepareKeyTurns(connection),
    arrivals: prepareArrivals(connection),
    due: prepareDue(connection),
    expired: prepareExpired(connection),
    failed: prepareFailed(connection),
    matching: prepareMatching(connection),
    prunable: preparePrunable(connection, floors),
    deadlines: prepareDeadlines(connection),
    jobsInPlace: prepareJobsInPlace(connection),
    attempts: prepareAttempts(connection),
    logLines: prepareLogLines(connection),
    withLastRuns: prepareWithLastRuns(connection),
    lastError: prepareLastError(connection),
    parents: prepareParents(connection),
    flowJobs: prepareFlowJobs(connection),
    listFlows: prepareFlowList(connection),
    list: prepareList(connection),
    payload: preparePayload(connection),
    oldestWaiting: prepareOldestWaiting(connection),
    oldestParked: prepareOldestParked(connection),
    events: prepareEvents(connection),
    ends: prepareEnds(connection),
    journal: prepareJournal(connection, floors),
    schedules: prepareSchedules(connection),
    dueSchedules: prepareDueSchedules(connection),
    schedulePage: prepareSchedulePage(connection),
    minutes,
    histories: prepareHistories(connection, minutes),
    failures: prepareFailures(connection),
  }
}

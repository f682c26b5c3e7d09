/** Writes a turn's effects, in one transaction and one round trip. */
import type { Effects, TurnHeader } from '@millrace/core/kernel'
import { SortedJobs } from '@millrace/sql'
import type { Connection } from '../connection.ts'
import { writeInbox } from '../inbox/write.ts'
import type { LowWaterMarks } from '../lowWaterMarks.ts'
import type { Claim } from '../open/claim.ts'
import { Batch } from './batch.ts'
import { writeCursors } from './cursors.ts'
import { prepareFailures } from './failures.ts'
import { countKept, forgetFinished, noteFinished } from './finished.ts'
import { writeFlows } from './flows.ts'
import { prepareHeader } from './header.ts'
import { writeHistory } from './history.ts'
import { deleteContent, deleteJobs, writeJobs } from './jobs.ts'
import { writeKeys } from './keys.ts'
import { forgetLanes, writeLanes } from './lanes.ts'
import { writePrune } from './prune.ts'
import { forgetDeleted, renameDeleted, writeQueues } from './queues.ts'
import { prepareRunning } from './running.ts'
import { writeRuns } from './runs.ts'
import { writeSchedules } from './schedules.ts'
import { writeSessions } from './sessions.ts'
import { writeSteps } from './steps.ts'

export interface Write {
  /** Returns the number of the turn that is written next. */
  next(): number
  turn(effects: Effects, header: TurnHeader): void
}

/** @param turn the last one of this epoch */
export function prepareWrite(connection: Connection, claim: Claim, turn: number, marks: LowWaterMarks): Write {
  const header = prepareHeader(connection, claim, turn)
  const running = prepareRunning(connection)
  const failures = prepareFailures(connection)
  const jobs = new SortedJobs()

  const statementsOf = (effects: Effects, turn: TurnHeader): Batch => {
    const batch = new Batch()
    // The fence comes first, so that an engine that has lost the schema touches nothing else.
    header.write(batch, effects, turn)
    renameDeleted(batch, effects.queuesGone)
    writeLanes(batch, effects.newLanes, turn)
    writeQueues(batch, effects, turn)
    writeSessions(batch, effects, turn.at)
    writeJobs(batch, jobs, effects, turn.at)
    writeRuns(batch, effects)
    writeSteps(batch, effects)
    failures(batch, effects.failures, turn.at)
    writeHistory(batch, effects.minutes)
    writeKeys(batch, effects)
    writeCursors(batch, effects, turn.at)
    writeSchedules(batch, effects)
    writeFlows(batch, effects)
    writeInbox(batch, effects.inboxEffects, turn.at)
    // Deletions come last, so that nothing that the turn noted of a deleted job is left behind.
    deleteContent(batch, jobs.vanished)
    deleteJobs(batch, jobs.deleted)
    deleteJobs(batch, effects.pruned)
    noteFinished(batch, effects.settled, turn.at, turn.nextEvent)
    forgetFinished(batch, effects.pruneTokens, marks)
    countKept(batch, effects.keptQueues)
    forgetDeleted(batch, effects.queuesGone)
    forgetLanes(batch, effects.lanesGone)
    running.write(batch, turn, effects)
    writePrune(batch, effects, marks)
    return batch
  }

  return {
    next: header.next,
    turn: (effects, turn) => {
      jobs.sort(effects.jobs, claim.node, turn.at)
      try {
        connection.transact(statementsOf(effects, turn).statements)
        header.committed()
        running.committed()
      } finally {
        jobs.clear()
      }
    },
  }
}

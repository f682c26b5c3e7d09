/** Writes a turn's effects, in one transaction. */
import type { Effects, TurnHeader } from '@millrace/core/kernel'
import { SortedJobs } from '@millrace/sql'
import type { Database } from '../driver.ts'
import type { Claim } from '../open/claim.ts'
import { prepareTransaction } from '../transaction.ts'
import { prepareCompleteJobs } from './complete-jobs.ts'
import { prepareCopyPayloads } from './copy-payloads.ts'
import { prepareDeleteJobs } from './delete-jobs.ts'
import { prepareExports } from './exports.ts'
import { prepareFailures } from './failures.ts'
import { prepareFinished } from './finished.ts'
import { prepareFlows } from './flows.ts'
import { prepareHeader } from './header.ts'
import { prepareHistory } from './history.ts'
import { prepareInsertJobs } from './insert-jobs.ts'
import { prepareKeys } from './keys.ts'
import { prepareLanes } from './lanes.ts'
import { preparePrune } from './prune.ts'
import { prepareQueues } from './queues.ts'
import { prepareQueuesGone } from './queues-gone.ts'
import { prepareRunning } from './running.ts'
import { prepareRuns } from './runs.ts'
import { prepareScheduleWrites } from './schedules.ts'
import { prepareSessions } from './sessions.ts'
import { prepareSources } from './sources.ts'
import { prepareStartJobs } from './start-jobs.ts'
import { prepareUpdateJobs } from './update-jobs.ts'

export type Write = (effects: Effects, header: TurnHeader) => void

export function prepareWrite(db: Database, claim: Claim): Write {
  const transaction = prepareTransaction(db)
  const header = prepareHeader(db, claim)
  const lanes = prepareLanes(db)
  const queues = prepareQueues(db)
  const queuesGone = prepareQueuesGone(db)
  const sessions = prepareSessions(db)
  const insertJobs = prepareInsertJobs(db, claim.node)
  const startJobs = prepareStartJobs(db)
  const completeJobs = prepareCompleteJobs(db)
  const updateJobs = prepareUpdateJobs(db)
  const copyPayloads = prepareCopyPayloads(db)
  const runs = prepareRuns(db)
  const failures = prepareFailures(db)
  const history = prepareHistory(db)
  const keys = prepareKeys(db)
  const sources = prepareSources(db)
  const exports = prepareExports(db)
  const schedules = prepareScheduleWrites(db)
  const flows = prepareFlows(db)
  const deleteJobs = prepareDeleteJobs(db)
  const finished = prepareFinished(db)
  const running = prepareRunning(db)
  const prune = preparePrune(db)
  const jobs = new SortedJobs()

  const writeAll = (effects: Effects, turn: TurnHeader) => {
    // The header comes first, so that an engine that has lost the file touches nothing else.
    header.write(effects, turn)
    // Renames deleted queues before others may take their names.
    if (effects.queuesGone.length > 0) queuesGone.tombstone(effects.queuesGone)
    lanes(effects.newLanes, effects.countedLanes, turn)
    queues(effects, turn)
    sessions(effects, turn.at)
    insertJobs(jobs)
    startJobs(jobs.started, turn.at)
    completeJobs(jobs.completed, jobs.completedWithOutput, turn.at)
    updateJobs(jobs)
    copyPayloads(jobs)
    runs(effects)
    failures(effects.failures, turn.at)
    history(effects.minutes)
    keys(effects)
    sources(effects, turn.at)
    exports(effects, turn.at)
    schedules(effects)
    flows(effects)
    // Deletions come last, so that nothing that the turn noted of a deleted job is left behind.
    deleteJobs.content(jobs.vanished)
    deleteJobs.rows(jobs.deleted)
    deleteJobs.rows(effects.pruned)
    finished.note(effects.settled, turn.at, turn.nextEvent)
    finished.forget(effects.pruneTokens)
    finished.count(effects.keptQueues)
    queuesGone.forget(effects)
    running.write(turn, effects)
    prune(effects)
  }

  return (effects, turn) => {
    jobs.sort(effects.jobs, claim.node, turn.at)
    try {
      transaction(() => writeAll(effects, turn))
      header.committed()
      running.committed()
    } finally {
      jobs.clear()
    }
  }
}

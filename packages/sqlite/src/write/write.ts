/** Writes a turn's effects, in one transaction. */
import { LIMITS } from '@millrace/core'
import type { Effects, TurnHeader } from '@millrace/core/kernel'
import { SortedJobs } from '@millrace/sql'
import type { Database } from '../driver.ts'
import type { Claim } from '../open/claim.ts'
import { prepareTransaction } from '../transaction.ts'
import { prepareCompleteJobs } from './complete-jobs.ts'
import { prepareCopyPayloads } from './copy-payloads.ts'
import { prepareDeleteJobs } from './delete-jobs.ts'
import { prepareFinished } from './finished.ts'
import { prepareHeader } from './header.ts'
import { prepareInsertJobs } from './insert-jobs.ts'
import { prepareLanes } from './lanes.ts'
import { prepareNotes } from './notes.ts'
import { preparePrune } from './prune.ts'
import { prepareQueues } from './queues.ts'
import { prepareQueuesGone } from './queues-gone.ts'
import { prepareRunning } from './running.ts'
import { prepareSessions } from './sessions.ts'
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
  const notes = prepareNotes(db)
  const deleteJobs = prepareDeleteJobs(db)
  const finished = prepareFinished(db)
  const running = prepareRunning(db)
  const prune = preparePrune(db)
  const jobs = new SortedJobs()
  /** True if the turn notes which jobs run. */
  let isNoted = false

  const writeAll = (effects: Effects, turn: TurnHeader) => {
    const { touchesFeatures } = effects
    // The header comes first, so that an engine that has lost the file touches nothing else.
    header.write(effects, turn)
    // Renames deleted queues before others may take their names.
    if (effects.queuesGone.length > 0) queuesGone.tombstone(effects.queuesGone)
    lanes(effects.newLanes, effects.countedLanes, turn)
    if (touchesFeatures) {
      queues(effects, turn)
      sessions(effects, turn.at)
    }
    insertJobs(jobs)
    if (jobs.started.length > 0) startJobs(jobs.started, turn.at)
    completeJobs(jobs.completed, jobs.completedWithOutput, turn.at)
    if (!jobs.areUsual) {
      updateJobs(jobs)
      copyPayloads(jobs)
    }
    if (touchesFeatures || !jobs.areUsual) writeFeatures(effects, turn)
    finished.note(effects.settled, turn.at, turn.nextEvent)
    isNoted = effects.forgetEventsBefore > 0 || turn.nextEvent - 1 - running.event >= LIMITS.eventsPerSnapshot
    if (isNoted) running.write(turn, effects)
  }

  /** Writes what features note of jobs, and what goes. */
  const writeFeatures = (effects: Effects, turn: TurnHeader) => {
    notes(effects, turn)
    // Deletions come last, so that nothing that the turn noted of a deleted job is left behind.
    deleteJobs.content(jobs.vanished)
    deleteJobs.rows(jobs.deleted)
    deleteJobs.rows(effects.pruned)
    finished.forget(effects.pruneTokens)
    finished.count(effects.keptQueues)
    queuesGone.forget(effects)
    prune(effects)
  }

  return (effects, turn) => {
    jobs.sort(effects.jobs, claim.node, turn.at)
    try {
      transaction(() => writeAll(effects, turn))
      header.committed()
      if (isNoted) running.committed()
    } finally {
      jobs.clear()
    }
  }
}

export { isThere, tombstoneOf } from './deletedQueues.ts'
export { dueModeOf, IS_TAKEN_BACK } from './flowModes.ts'
export { encodeEvents, JOURNAL_ROW_BYTES } from './journal.ts'
export type { Prepare, Query } from './query.ts'
export { isOwnRun, type RawAttempt, type RawLog, type RawSession, viewsOf } from './read/attempts.ts'
export { conditionsOf } from './read/conditions.ts'
export { contentJudge, isInExtras, patternOf } from './read/contents.ts'
export { prepareExtent, type RawEnds, type RawTurn, type TurnsAfter, turnFrom } from './read/events.ts'
export { failureFrom, type RawFailure } from './read/failures.ts'
export { prepareFlowJobs, type RawEdge, type RawRef } from './read/flowJobs.ts'
export {
  END_ERROR,
  END_ERROR_VALUES,
  PARENT_COLUMNS,
  PARENT_TABLES,
  parentFrom,
  type RawParent,
} from './read/flows.ts'
export { type RawTally, type ReadFlowTally, TALLY, tallyFrom } from './read/flowTally.ts'
export { codeOf, HOUR, MINUTE } from './read/history.ts'
export { isKept } from './read/keys.ts'
export { type RawLast, withLastRuns } from './read/lastRuns.ts'
export { type Found, NOTHING_FOUND, type Place, pageOf, sliceOf } from './read/list.ts'
export { activeFrom, loadedFrom, NEXT_NUMBERS, type RawLane, type RawLoaded, runningFrom } from './read/load.ts'
export { MESSAGE_COLUMNS, messageValues } from './read/messages.ts'
export { prepareSharedReads } from './read/reads.ts'
export { ERROR_COLUMNS, errorValues } from './read/runError.ts'
export { MAY_FIRE, type RawSchedule, SCHEDULE_NAMES, scheduleFrom } from './read/schedules.ts'
export { STEP_COLUMNS, stepValues } from './read/steps.ts'
export { type Batch, type Old, type PrunableReads, type PruneToken, takePrunable } from './read/takePrunable.ts'
export { packRanges, type Range, rangesOf, seqsIn, unpackRanges } from './seqs.ts'
export { hoursFrom, hoursText } from './tables/failure.ts'
export {
  COLUMNS,
  cutRow,
  dataOf,
  extrasFrom,
  extrasText,
  isPayload,
  orNull,
  payloadBytes,
  type RawRow,
  ROW_COLUMNS,
  ROW_COLUMNS_WITHOUT_DATA,
  ROW_WIDTH,
  rowFrom,
} from './tables/job.ts'
export { COUNTERS, countersInto, countersOf } from './tables/lane.ts'
export { settingsText } from './tables/queue.ts'
export type { SqlValue } from './value.ts'
export { byKind } from './write/failures.ts'
export { batchesOf, type FinishedBatch } from './write/finished.ts'
export { isCreated, net, tagChanges } from './write/keys.ts'
export { assertTurnIsKept } from './write/running.ts'
export { CHANGING, MOVING, movingOf, restOf } from './write/schedules.ts'
export { SortedJobs } from './write/sort.ts'

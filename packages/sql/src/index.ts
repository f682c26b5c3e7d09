export { isThere, nameOnTombstone, tombstoneOf } from './deletedQueues.ts'
export { dueModeOf, IS_TAKEN_BACK } from './flowModes.ts'
export { decodeEnds, decodeEvents, encodeEvents, JOURNAL_ROW_BYTES, type JournalRow, type LaneName, replayRuns } from './journal.ts'
export {
  isOwnRun,
  numberedLineFrom,
  type RawAttempt,
  type RawLog,
  type RawNumberedLog,
  type RawSession,
  viewsOf,
} from './read/attempts.ts'
export { failureFrom, type RawFailure } from './read/failures.ts'
export { fragment, maskOf, metaHintOf } from './read/fits.ts'
export { dueFrom, parentFrom, type RawDue, type RawParent } from './read/flows.ts'
export { codeOf, HOUR, MINUTE } from './read/history.ts'
export { lastRunFrom, type RawLast } from './read/lastRuns.ts'
export {
  activeFrom,
  definitionFrom,
  laneFrom,
  presentFrom,
  queueFrom,
  type RawDefinition,
  type RawLane,
  type RawPresent,
  type RawQueue,
} from './read/load.ts'
export { contentJudge, isInExtras, patternOf } from './read/look.ts'
export { ERROR_COLUMNS, errorFrom, errorValues, type RawError } from './read/runError.ts'
export { MAY_FIRE, type RawSchedule, SCHEDULE_NAMES, scheduleFrom } from './read/schedules.ts'
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
export { CHANGING, MOVING, movingOf, restOf } from './write/schedules.ts'
export { SortedJobs } from './write/sort.ts'

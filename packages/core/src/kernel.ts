/**
 * The kernel: tables, decisions, effects, and the interface of a store. Only the engine, stores and the testkit import it; everybody else
 * knows the contract, which is the root of this package.
 */

export { readFlows } from './kernel/flows/flowList.ts'
export { readFlow } from './kernel/flows/flowPage.ts'
export { containsJson, hintOf, jsonJudge } from './kernel/jobs/containment.ts'
export { contains, folded, storedForms } from './kernel/jobs/contains.ts'
export { DROPPED } from './kernel/jobs/drop.ts'
export { runOf } from './kernel/jobs/end.ts'
export { explain } from './kernel/jobs/explain.ts'
export { matches } from './kernel/jobs/gatherMatching.ts'
export { finalStates } from './kernel/jobs/gatherPrunable.ts'
export { impliedFilter, matchesFilter, spanOf } from './kernel/jobs/matchesFilter.ts'
export { deadlineAt, droppedAttempt, lastRunOf, viewOf } from './kernel/jobs/view.ts'
export { heaviest } from './kernel/keys/heaviest.ts'
export { mostParked, topKeys } from './kernel/keys/topKeys.ts'
export { FORGOTTEN, forgetNames } from './kernel/queues/forgetNames.ts'
export { readHistories } from './kernel/queues/historyOfQueues.ts'
export { queueOf } from './kernel/queues/queueOf.ts'
export { BrokenInvariant } from './kernel/records/broken.ts'
export { rateNow, tokenMs } from './kernel/records/bucket.ts'
export { ConsumerGroup } from './kernel/records/consumerGroup.ts'
export type { Definition } from './kernel/records/definition.ts'
export {
  CANCEL,
  CANCEL_REVERTED,
  COUNTER_OPEN,
  COUNTER_PENDING,
  DELETED,
  type DependencyCounter,
  DUE_MODES,
  dueMode,
  type FlowEdge,
  FlowEffects,
  type FlowEnd,
  type FlowPlace,
  flowParentsOf,
  flowStateOf,
  hasFailed,
  NOTIFY,
  type ParentOutcome,
  parentKeyOf,
  RETRY,
  REVERT,
  takesBack,
} from './kernel/records/flowState.ts'
export {
  attemptOf,
  DIRTY_COMPLETE,
  DIRTY_DATA,
  DIRTY_DELETE,
  DIRTY_EXTRAS,
  DIRTY_INSERT,
  DIRTY_OTHER,
  DIRTY_PLACE,
  DIRTY_START,
  type Job,
  type JobExtras,
  newJob,
} from './kernel/records/job.ts'
export { type KeyBacklog, keyRateOf, newKey, newKeyBacklog, roomOf } from './kernel/records/keyBacklog.ts'
export {
  type Counts,
  countOf,
  type Lane,
  type LaneTotals,
  liveCountOf,
  namedCounts,
  newCounts,
  newLane,
  newQueue,
  type Queue,
  retainedOf,
} from './kernel/records/lane.ts'
export type {
  ActiveRow,
  BucketRow,
  Deadlines,
  DefinitionRow,
  DependencyRow,
  EndsPage,
  ExportCursor,
  FailureHour,
  FailureRow,
  FlowDueRow,
  FlowJobRow,
  FlowLeftRow,
  FlowRow,
  IdempotentHolder,
  InboxRow,
  JobRow,
  KeptCounts,
  KeptQuery,
  KeyHolder,
  LaneCursor,
  LaneRow,
  Loaded,
  NameAndKey,
  ParentRow,
  PauseEndRow,
  PresentRow,
  Prunable,
  PrunableRow,
  QueueRow,
  TurnQuery,
  TurnRow,
} from './kernel/records/rows.ts'
export { type ConnectionId, isLiving, type Session } from './kernel/records/session.ts'
export { isShareFull } from './kernel/records/sharedLimits.ts'
export { fireTime, runsLeft, type Schedule, tickAfter } from './kernel/records/ticks.ts'
export { Window } from './kernel/records/window.ts'
export { awaited, dismiss } from './kernel/records/workerRegistry.ts'
export { away } from './kernel/sessions/presence.ts'
export {
  Effects,
  type EventNote,
  type FailureNote,
  type InboxEffects,
  type PauseEndNote,
  type SystemEventNote,
} from './kernel/state/effects.ts'
export { Facts } from './kernel/state/facts.ts'
export { trendOf, withFailureHour } from './kernel/state/failureHours.ts'
export {
  HISTORY_UNITS,
  type HistorySpan,
  HOUR_MS,
  hourOf,
  MINUTE_MS,
  type MinuteNote,
  type MinuteRow,
  minuteOf,
  type QueueMinutes,
} from './kernel/state/history.ts'
export { forgetHolders, keepHolders, setHolder } from './kernel/state/holders.ts'
export type { FlowRows, FlowsQuery, ListQuery, ListRows, Matching, ScanBound } from './kernel/state/lists.ts'
export {
  assertSameMove,
  type MovedKey,
  type MovedNumbers,
  type MovedRow,
  type MovedTable,
  type MovedType,
  type MovedValue,
  type MoveEnd,
  type MovePlace,
  type MoveSource,
  type MoveTarget,
  movedKey,
  type PageBound,
} from './kernel/state/move.ts'
export { noExport, stale } from './kernel/state/refuse.ts'
export {
  answersOf,
  type FileCare,
  findRow,
  type Question,
  type Questions,
  type Room,
  type Store,
  type TurnHeader,
  type TurnReads,
  type TurnStore,
} from './kernel/state/store.ts'
export { StoreFailure } from './kernel/state/storeFailure.ts'
export { Tables } from './kernel/state/tables.ts'
export type { Sender, Settings } from './kernel/state/turnContext.ts'
export type {
  ForgottenKeys,
  IdempotencyRecord,
  MessageRecord,
  PrunedJob,
  SourceOffset,
  StepRecord,
  UniqueRecord,
} from './kernel/state/turnRows.ts'
export { loadTables } from './kernel/turn/load.ts'
export { nextTurnMs } from './kernel/turn/nextTurn.ts'
export { type Decided, type Envelope, type TurnMeter, type TurnParts, takeTurn, type Upkeep } from './kernel/turn/takeTurn.ts'

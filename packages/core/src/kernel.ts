/**
 * The kernel: tables, decisions, effects, and the interface of a store. Only the engine, stores and the testkit import it; everybody else
 * knows the contract, which is the root of this package.
 */
export {
  Effects,
  type EventNote,
  type FailureNote,
  type ForgottenKeys,
  type IdempotencyRecord,
  type InboxEffects,
  type PauseEndNote,
  type PrunedJob,
  type SourceOffset,
  type SystemEventNote,
  type UniqueRecord,
} from './kernel/effects.ts'
export { Facts } from './kernel/facts.ts'
export { type FailureHour, trendOf, withFailureHour } from './kernel/failureHours.ts'
export { readFlows } from './kernel/flows/flowList.ts'
export { readFlow } from './kernel/flows/flowPage.ts'
export {
  CANCEL,
  CANCEL_REVERTED,
  CLOSED,
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
  OPEN,
  type ParentOutcome,
  parentKeyOf,
  RETRY,
  REVERT,
  takesBack,
} from './kernel/flows/state.ts'
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
} from './kernel/history.ts'
export { readHistories } from './kernel/historyOfQueues.ts'
export { containsJson, hintOf, jsonJudge } from './kernel/jobs/containment.ts'
export { contains, folded, storedForms } from './kernel/jobs/contains.ts'
export { runOf } from './kernel/jobs/end.ts'
export { explain } from './kernel/jobs/explain.ts'
export { fits, impliedFilter } from './kernel/jobs/fits.ts'
export { matches } from './kernel/jobs/gatherMatching.ts'
export { finalStates } from './kernel/jobs/gatherPrunable.ts'
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
} from './kernel/jobs/job.ts'
export { deadlineAt, droppedAttempt, lastRunOf, viewOf } from './kernel/jobs/view.ts'
export { rateNow, tokenMs } from './kernel/keys/bucket.ts'
export { heaviest } from './kernel/keys/heaviest.ts'
export { type KeyBacklog, keyRateOf, newKey, newKeyBacklog, roomOf } from './kernel/keys/keyBacklog.ts'
export { mostParked, topKeys } from './kernel/keys/topKeys.ts'
export type { FlowRows, FlowsQuery, ListQuery, ListRows, LookBound, Matching } from './kernel/lists.ts'
export { loadTables } from './kernel/load.ts'
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
} from './kernel/move.ts'
export { nextTurnMs } from './kernel/nextTurn.ts'
export { DROPPED } from './kernel/queues/drop.ts'
export { FORGOTTEN, forgetNames } from './kernel/queues/forgetNames.ts'
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
} from './kernel/queues/lane.ts'
export { queueOf } from './kernel/queues/queueOf.ts'
export { isShareFull } from './kernel/queues/sharedLimits.ts'
export { Window } from './kernel/queues/window.ts'
export { noExport, stale } from './kernel/refuse.ts'
export type {
  ActiveRow,
  BucketRow,
  Deadlines,
  DefinitionRow,
  DependencyRow,
  EndsPage,
  ExportCursor,
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
} from './kernel/rows.ts'
export { fireTime, runsLeft, type Schedule, tickAfter } from './kernel/schedules/ticks.ts'
export { ConsumerGroup } from './kernel/sessions/consumerGroup.ts'
export type { Definition } from './kernel/sessions/definition.ts'
export { forgetHolders, keepHolders, setHolder } from './kernel/sessions/holders.ts'
export { away } from './kernel/sessions/presence.ts'
export { type ConnectionId, isLiving, type Session } from './kernel/sessions/session.ts'
export { awaited, dismiss } from './kernel/sessions/workerRegistry.ts'
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
} from './kernel/store.ts'
export { StoreFailure } from './kernel/storeFailure.ts'
export { Tables } from './kernel/tables.ts'
export { type Decided, type Envelope, type TurnMeter, type TurnParts, takeTurn, type Upkeep } from './kernel/takeTurn.ts'
export type { Sender, Settings } from './kernel/turn.ts'

export { type Audited, boundedTarget } from './access/audited.ts'
export { isLoopbackNeighbourhood, neighbourhoodOf } from './access/neighbourhood.ts'
export { allowsLess, isUnbounded, outsideOf, type Permit, permitOption, withForbiddenKeys } from './access/permit.ts'
export { RESERVED_KEYS, reservedKey } from './access/reserved.ts'
export { SCOPES, type Scope, scopesOption } from './access/scopes.ts'
export { headerTokenOption, tokenOption, tokensOption } from './access/tokens.ts'
export { type Reader, Unread } from './access/unread.ts'
export { WaitingRoom } from './access/waitingRoom.ts'
export { tooManyWrongTokens, type WrongToken, WrongTokens } from './access/wrongTokens.ts'
export { type Backoff, backoffDelay } from './backoff.ts'
export type { Clock, Now, Random } from './clock.ts'
export type {
  AttachCommand,
  CheckedForward,
  CompleteCommand,
  Defaults,
  EventFilter,
  EventsCommand,
  FailCommand,
  FailedPlace,
  ForwardCommand,
  GiveBackCommand,
  InboxEntry,
  InboxPlace,
  JobChanges,
  LabelChanges,
  ListCommand,
  LogLevel,
  LogLine,
  NewJob,
  OnConflict,
  PlaceChanges,
  RunKey,
  SessionIntro,
  SnoozeCommand,
  SourceEntry,
  Unfit,
  Vitals,
  WorkersCommand,
} from './commands.ts'
export { DEFERRED, Refused } from './decision.ts'
export { type Duration, formatDuration, parseDuration } from './duration.ts'
export { type ErrorKind, isError, isErrorOf } from './errorKind.ts'
export {
  AlreadyOpenError,
  AuditUnavailableError,
  AuthFailedError,
  BusyError,
  CancelJobError,
  CodecError,
  CommitUnknownError,
  ConnectionLostError,
  DiscardedError,
  DiskFullError,
  DrainIncompleteError,
  EngineFailedError,
  EngineStoppedError,
  ERROR_CODES,
  type ErrorCode,
  errorFrom,
  FileTruncatedError,
  ForbiddenError,
  ForeignLogError,
  InternalError,
  InvalidScheduleError,
  JobActiveError,
  JobBlockedError,
  JobCancelledError,
  JobExpiredError,
  JobFailedError,
  JobFinishedError,
  JobNotFoundError,
  JobScheduledError,
  JobTimeoutError,
  LeaseLostError,
  MillraceError,
  MoveRefusedError,
  NonRetryableError,
  NotADatabaseError,
  NotWritableError,
  OptionRangeError,
  OptionTypeError,
  OwnerLostError,
  ParentFailedError,
  ProtocolError,
  QueueDrainingError,
  QueueFullError,
  QueueNotEmptyError,
  QueueNotFoundError,
  type Refusal,
  ResultTimeoutError,
  RetryAfterError,
  ScheduleChangedError,
  ScheduleExistsError,
  ScheduleNotFoundError,
  SchemaTooNewError,
  SchemaTooOldError,
  StaleRunError,
  StorageBusyError,
  StorageError,
  StoreMovedError,
  StoreMovingError,
  TooLargeError,
  TooManyNamesError,
  TooManyQueuesError,
  UniqueConflictError,
  UnsafeFilesystemError,
  UnsupportedError,
  UnsupportedRuntimeError,
  ValidationError,
  VersionMismatchError,
  WorkerLostError,
  WorkerNotFoundError,
  WorkerStoppedError,
} from './errors.ts'
export { eventTest } from './eventFilter.ts'
export {
  type EnginePauseEvent,
  type EnginePauseEventBody,
  type EnginePauseEventType,
  EVENT_TYPES,
  type EventType,
  isEnd,
  isJobEvent,
  JOB_EVENT_TYPES,
  type JobEnd,
  type JobEvent,
  type JobEventType,
  type JournalEvent,
  MISS_REASONS,
  type MissReason,
  type QueueEvent,
  type QueueEventBody,
  type QueueEventType,
  type ScheduleEvent,
  type ScheduleEventBody,
  type ScheduleEventType,
  SYSTEM_EVENT_TYPES,
  type SystemEvent,
  type SystemEventBody,
  type SystemEventType,
  type WorkerEvent,
  type WorkerEventBody,
  type WorkerEventType,
} from './events.ts'
export { CAUSES, type Cause, type CauseCode, type ExplainCommand, type Explanation } from './explanation.ts'
export { FAILING, isFailing, type RecentRuns } from './failing.ts'
export { fingerprintOf, formatFingerprint } from './fingerprint.ts'
export { FLOW_STATES, type FlowState, type Joined, ON_PARENT_FAILURE, type OnParentFailure } from './flow.ts'
export type { FlowCursor, FlowNode, JoinCommand, ParentsCommand } from './flowCommands.ts'
export { IndexedHeap } from './heap.ts'
export { formatId, type JobKey, NODE_LIMIT, PLACE_LIMIT, parseId, rowOfShortId, SEQ_LIMIT, SHORT_ROWS, shortId, sourcedNode } from './id.ts'
export { type AbortCause, type Cancellation, type Data, dataBytes } from './job.ts'
export {
  type ByKeyCommand,
  type GetByKeyCommand,
  type HeldKey,
  KEY_KINDS,
  KEYED_CALLS,
  type KeyedCall,
  type KeyKind,
} from './keyCommands.ts'
export { leaseMs } from './lease.ts'
export {
  ACTIVE,
  BLOCKED,
  CANCELLED,
  COMPLETED,
  FAILED,
  isFinal,
  isLive,
  LIFECYCLE,
  mayMove,
  SCHEDULED,
  STATES,
  type State,
  type StateCode,
  WAITING,
} from './lifecycle.ts'
export { LIMITS } from './limits.ts'
export type {
  CancelManyCommand,
  DeleteManyCommand,
  ManyCommand,
  QueuesCommand,
  RetryManyCommand,
  RunNowManyCommand,
  UpdateManyCommand,
} from './manageCommands.ts'
export { NumberMap } from './numberMap.ts'
export { changedNumber, withChangedNumbers } from './numbers.ts'
export {
  DEFINITION_DETAILS,
  type DefinitionDetail,
  type ExportCommand,
  FAILURES_ORDERS,
  FAILURES_TRENDS,
  type FailuresCommand,
  type FailuresOrder,
  type FailuresTrend,
  HISTORY_STEPS,
  type HistoryCommand,
  type HistoryStep,
  NAME_DETAILS,
  type NameDetail,
  type StatsCommand,
} from './observeCommands.ts'
export {
  type Command,
  type CommandOf,
  isOfRunning,
  isPatient,
  isQuestion,
  jobsOf,
  type OfKind,
  OPERATIONS,
  type Operation,
  type ReplyOf,
  traitsOf,
  weighCommand,
} from './operations.ts'
export { type BackoffFunction, type BackoffOptions, backoffOption } from './options/backoff.ts'
export { bytesOption, isBase64 } from './options/base64.ts'
export { withoutMark } from './options/byteOrderMark.ts'
export { type CancelManyOptions, type CancelOptions, validateCancelManyOptions, validateCancelOptions } from './options/cancel.ts'
export { booleanOption, choiceOption } from './options/choice.ts'
export { type Codec, codecOption } from './options/codec.ts'
export { isContained } from './options/contained.ts'
export { decodeData, encodeData, encodeProgress } from './options/data.ts'
export { type DefinitionOptions, validateDefinition } from './options/definition.ts'
export { describe, shortened } from './options/describe.ts'
export {
  checkCommandSize,
  type EnqueueOptions,
  newJobFrom,
  ON_CONFLICT,
  UNIQUE_UNTILS,
  type UniqueOptions,
  weighJob,
  weighJobs,
} from './options/enqueue.ts'
export { type EventsFilter, type EventsOptions, type EventsSettings, validateEventsOptions } from './options/events.ts'
export { type ExportOptions, validateExportOptions } from './options/exports.ts'
export { type FileUrl, pathOption, withoutUrl } from './options/fileUrl.ts'
export {
  FILTER_FIELDS,
  FILTER_NAMES,
  FILTER_OPTIONS,
  type FilterField,
  type FilterKind,
  type FilterOption,
  type FilterOptionKind,
  type FilterRow,
  isNarrowed,
  isOfLastRun,
  type JobFilter,
  type ListFilter,
  statesOf,
} from './options/filter.ts'
export { type FlowNodeOptions, type FlowOptions, type OrderedNode, orderNodes, validateFlowOptions } from './options/flow.ts'
export { type FlowGetOptions, formatFlowCursor, validateFlowGetOptions } from './options/flowGet.ts'
export { type FlowListOptions, validateFlowListOptions } from './options/flowList.ts'
export {
  type FailuresOptions,
  type HistoryOptions,
  type QueuesHistoryOptions,
  validateFailuresOptions,
  validateHistoryOptions,
} from './options/history.ts'
export { INSTANCE_COLOURS, type InstanceColour, type InstanceOptions, instanceNameOption, instanceOption } from './options/instance.ts'
export { integerOption } from './options/integer.ts'
export { checkItemKeys, ITEM_KEYS, itemName } from './options/item.ts'
export { heldKeyOption, type JobOfKey, type JobRef } from './options/jobRef.ts'
export { checkJsonNumbers, checkJsonText } from './options/jsonText.ts'
export { checkKnown, checkNone } from './options/known.ts'
export { formatCursor, type ListOptions, type ListPlace, type ListSettings, validateListOptions } from './options/list.ts'
export { type Logger, type LoggerOption, loggerOption, quietableLogger } from './options/logger.ts'
export { type LogsOptions, validateLogsOptions } from './options/logs.ts'
export { type ManyFilter, type ManyOptions, validateMany } from './options/many.ts'
export { durationOption, timeOption } from './options/milliseconds.ts'
export {
  type Moved,
  type MovedRows,
  type MoveOptions,
  type MoveProgress,
  type MoveSettings,
  type StoreAddress,
  validateMoveOptions,
} from './options/move.ts'
export { NAME_PATTERN, nameOption } from './options/name.ts'
export { nearest } from './options/nearest.ts'
export {
  DEFAULT_SCHEMA,
  type EngineOptions,
  type EngineSettings,
  type FileAccess,
  type ListenAt,
  type OpenOptions,
  type OpenPostgresOptions,
  type OpenSettings,
  type PostgresSettings,
  type Role,
  schemaName,
  schemaOption,
  type Transport,
  validateOpenOptions,
  validatePostgresOptions,
} from './options/open.ts'
export { LIST_ORDERS, type ListOrder, orderConflict, type TimeOrder, timeOrderOf } from './options/order.ts'
export {
  type GetOptions,
  PAYLOAD_MODES,
  PAYLOADS,
  type PayloadMode,
  type PayloadName,
  payloadBytesOf,
  validateGetOptions,
} from './options/payload.ts'
export { type ProcessOptions, type ProcessSettings, validateProcessOptions } from './options/process.ts'
export {
  type DrainOptions,
  PURGED_STATES,
  type PurgedState,
  type PurgeOptions,
  type PurgeResult,
  validateDrainOptions,
  validatePurgeOptions,
} from './options/purge.ts'
export {
  type KeyTierOptions,
  type PauseOptions,
  QUEUE_WORDS,
  type QueueOptions,
  type RateLimitOptions,
  type ResumeOptions,
  type SnoozeOptions,
  validatePauseOptions,
  validateQueueOptions,
  validateResumeOptions,
  validateSnoozeOptions,
} from './options/queue.ts'
export { matchesQueue, prefixOf } from './options/queuePattern.ts'
export { type QueueKeysOptions, type QueuesPageOptions, validateQueueKeysOptions, validateQueuesPageOptions } from './options/queuesPage.ts'
export { type Check, choiceOf, durationWithin, integerBetween, optionsReader } from './options/read.ts'
export { type Redact, redactOption, type Said } from './options/redact.ts'
export { type RedriveOptions, validateRedriveOptions } from './options/redrive.ts'
export { type ResultOptions, type StopSignal, validateResultOptions } from './options/result.ts'
export { type KeepOptions, type RetentionOptions, retentionOption } from './options/retention.ts'
export {
  endlessOf,
  type OptionKind,
  type OptionRow,
  RUN_OPTION_NAMES,
  RUN_OPTIONS,
  type RunOption,
  type RunOptions,
  type RunSettings,
} from './options/runOptions.ts'
export {
  changedSchedule,
  checkScheduleChanges,
  checkScheduledJob,
  type ScheduleGetOptions,
  type ScheduleListOptions,
  type ScheduleOptions,
  type ScheduleTimes,
  scheduleIdOption,
  type TriggerOptions,
  validateScheduleGetOptions,
  validateScheduleListOptions,
  validateScheduleOptions,
  validateTriggerOptions,
} from './options/schedule.ts'
export { DEBOUNCE_MODES, type DebounceOptions, shapingConflict, type ThrottleOptions } from './options/shaping.ts'
export { type StatsOptions, validateStatsOptions } from './options/stats.ts'
export { choiceMeant, optionHint } from './options/synonyms.ts'
export { textOption } from './options/text.ts'
export { type ThreadOptions, type ThreadSettings, validateThreadOptions } from './options/thread.ts'
export { type TreeOptions, validateTreeOptions } from './options/tree.ts'
export { type UniqueBy, uniqueKeyOf } from './options/uniqueBy.ts'
export { UNSAFE_KEYS } from './options/unsafeKeys.ts'
export { type UpdateManyChanges, type UpdateOptions, validateUpdateManyChanges, validateUpdateOptions } from './options/update.ts'
export { utf8Bytes, utf8Start } from './options/utf8.ts'
export {
  QUEUE_ORDERS,
  type QueueOrder,
  type StopOptions,
  validateConcurrency,
  validateStopOptions,
  validateWorkOptions,
  type WorkOptions,
  type WorkSettings,
} from './options/work.ts'
export { PAUSE_PARTS, type PausePart } from './pausePart.ts'
export { DEFAULT_POLICY, POLICY_FIELDS, type PolicyView, parsePolicy } from './policy.ts'
export type { Capability, Delivery, Grant, Notice, Port, PortListener, Reply, Request } from './port.ts'
export {
  type QueueChanges,
  type QueueDefaults,
  type QueueSettings,
  type RateLimit,
  retentionOf,
  type SharedLimit,
  sameSettings,
} from './queueSettings.ts'
export { refusalFrom } from './refusalFrom.ts'
export type {
  AttachReply,
  AttemptView,
  DependencyView,
  Enqueued,
  EventsPage,
  ExportPage,
  ExportView,
  FailureGroup,
  FlowJobView,
  FlowSummaryView,
  FlowView,
  Forwarded,
  HistoryColumns,
  HistoryOfQueues,
  HistoryPoint,
  JobView,
  JournalGap,
  LastRunView,
  ListPage,
  ManyResult,
  Outcome,
  ParentsPage,
  ParentView,
  PayloadSizes,
  QueueKey,
  QueueKeys,
  Redriven,
  SchedulePage,
  ScheduleView,
  SkipReason,
  Slice,
} from './replies.ts'
export { DEFAULT_RETENTION, type JournalExtent, type Keep, type Retention } from './retention.ts'
export { type HandlerError, handlerErrorOf, type RunCause, type RunError } from './runError.ts'
export { CATCH_UPS, type Calendar, OVERLAPS, type ScheduleSpec } from './schedule.ts'
export type { GetScheduleCommand, ListSchedulesCommand, UpsertScheduleCommand } from './scheduleCommands.ts'
export {
  type AttachedWorker,
  type DefinitionStats,
  type FailingName,
  type NameStats,
  type OwnerStats,
  type PauseEndView,
  type Percentiles,
  type QueueStats,
  type QueueView,
  type StateCounts,
  type Stats,
  type StoreStats,
  TIMING_BOUNDS_MS,
  type Timing,
  type Totals,
  WORKER_KINDS,
  type WorkerKind,
  type WriterStats,
} from './stats.ts'
export { isThenable } from './thenable.ts'
export { withCommas } from './withCommas.ts'

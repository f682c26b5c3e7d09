/** Everything that an application needs: `openEngine`, definitions, errors, and the types of what goes in and comes out. */

export type * from '@millrace/client'
export { Engine, JobHandle } from '@millrace/client'
export type {
  Backoff,
  BackoffFunction,
  BackoffOptions,
  Duration,
  EnqueueOptions,
  EventType,
  ListOptions,
  Logger,
  OpenOptions,
  QueueStats,
  RedriveOptions,
  ResultOptions,
  RetentionOptions,
  State,
  Stats,
  StopOptions,
  ThreadOptions,
  UpdateOptions,
  WorkerView,
  WorkOptions,
} from '@millrace/core'
export {
  AlreadyOpenError,
  BusyError,
  CommitUnknownError,
  DiscardedError,
  DiskFullError,
  EngineFailedError,
  EngineStoppedError,
  InternalError,
  JobActiveError,
  JobCancelledError,
  JobExpiredError,
  JobFailedError,
  JobFinishedError,
  JobNotFoundError,
  JobTimeoutError,
  LeaseLostError,
  LIMITS,
  MillraceError,
  NonRetryableError,
  NotADatabaseError,
  NotWritableError,
  OptionRangeError,
  OptionTypeError,
  OwnerLostError,
  ResultTimeoutError,
  RetryAfterError,
  SchemaTooNewError,
  StaleRunError,
  StorageBusyError,
  StorageError,
  UniqueConflictError,
  UnsafeFilesystemError,
  UnsupportedError,
  UnsupportedRuntimeError,
  ValidationError,
  WorkerLostError,
  WorkerStoppedError,
} from '@millrace/core'
export { type Context, type Definition, defineJob, type Handler, type JobInfo, type JobType, type Worker } from '@millrace/worker'
export { systemClock, systemRandom } from './clock.ts'
export { attach, openEngine } from './open.ts'
export { InThreadEngine, type InThreadOptions } from './ports/inThread.ts'
export type { WriterOptions } from './writer/messages.ts'
export { WriterThread } from './writer/thread.ts'

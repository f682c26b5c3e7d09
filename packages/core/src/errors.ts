/**
 * The error catalogue. Three kinds of wrong: misuse throws OptionTypeError or OptionRangeError at the border; operating
 * trouble is a MillraceError with a stable `code`; a broken invariant is InternalError.
 */
import { type Duration, parseDuration } from './duration.ts'
import { describe } from './options/describe.ts'
import type { HandlerError } from './runError.ts'

/** An error as it crosses a Port: `code` leads back to its class. */
export interface Refusal {
  readonly code: ErrorCode
  readonly message: string
  /** Further public fields of the error, plain values. */
  readonly details?: Readonly<Record<string, unknown>>
}

/** The base of every error that the queue itself raises. */
export abstract class MillraceError extends Error {
  /** Stable: the class's name in capitals, without `Error`. */
  readonly code: string
  /** True if the same call may succeed later, unchanged. */
  readonly retryable: boolean

  constructor(code: string, retryable: boolean, message: string, details?: Readonly<Record<string, unknown>>, options?: ErrorOptions) {
    super(message, options)
    Object.assign(this, details)
    this.name = new.target.name
    this.code = code
    this.retryable = retryable
  }
}

type Details = Readonly<Record<string, unknown>>

function define<Code extends string>(code: Code, retryable: boolean, describe?: (details: Details) => string) {
  return class extends MillraceError {
    static readonly code = code
    constructor(message?: string, details: Details = {}, options?: ErrorOptions) {
      super(code, retryable, message ?? describe?.(details) ?? code, details, options)
    }
  }
}

// Opening a file, and owning it.

/** Another process, or this one, owns the file or the schema. `pid` and `host` name the owner if it is known. */
export class AlreadyOpenError extends define('ALREADY_OPEN', true) {
  declare readonly pid?: number
  declare readonly host?: string
}
/** Another engine has taken the store over, or its files were taken away: this one has stopped writing. */
export class OwnerLostError extends define('OWNER_LOST', false) {
  /** The file that was taken away; undefined if another engine has the store. */
  declare readonly path?: string
}
/** The file is no SQLite database, or not one of Millrace's. */
export class NotADatabaseError extends define('NOT_A_DATABASE', false) {}
/** The file was emptied or cut: it has no content or lacks its end, and held more. Opening it as a new one would hide the loss. */
export class FileTruncatedError extends define('FILE_TRUNCATED', false) {}
/** The write-ahead log beside the file belongs to another file: replaying it would break this one. */
export class ForeignLogError extends define('FOREIGN_LOG', false) {}
/** The file was written by a newer version that older ones must not open. */
export class SchemaTooNewError extends define('SCHEMA_TOO_NEW', false) {}
/** The store has an older schema, and `autoMigrate` is off: `millrace migrate` brings it up to date. Or it was made before 0.1.0. */
export class SchemaTooOldError extends define('SCHEMA_TOO_OLD', false) {}
/** The folder or the file cannot be created or written. */
export class NotWritableError extends define('NOT_WRITABLE', false) {}
/** The file lies on a kind of file system that loses locks or syncs. */
export class UnsafeFilesystemError extends define('UNSAFE_FILESYSTEM', false) {}
/** The content of the store has been moved to another one, which `movedTo` names: open that. */
export class StoreMovedError extends define('STORE_MOVED', false) {
  declare readonly movedTo: string
}
/** A move into the store was interrupted. The same move continues from there; until its end nobody can open the store. */
export class StoreMovingError extends define('STORE_MOVING', false) {}
/** The content of a store cannot be moved as it is; the message says why, and what to do. The source keeps all of it. */
export class MoveRefusedError extends define('MOVE_REFUSED', false) {}
/** This runtime, or this way of bundling, cannot run the engine; the message says what can. */
export class UnsupportedRuntimeError extends define('UNSUPPORTED_RUNTIME', false) {}
/** The Port behind this engine does not offer what was asked for. */
export class UnsupportedError extends define('UNSUPPORTED', false) {
  /** The setting that conflicts with another one, if that is the reason. */
  declare readonly option?: string
}

// The store in trouble.

/** The disk is full: new work is refused, running jobs complete, service resumes automatically when there is room. */
export class DiskFullError extends define('DISK_FULL', true) {
  /** The number of bytes that must be free before new work is accepted again, if known. */
  declare readonly neededBytes?: number
}
/** Another program holds on to the file for too long: its write lock, or a read that keeps the write-ahead log from being folded in. */
export class StorageBusyError extends define('STORAGE_BUSY', true) {}
/** The store failed before the commit: nothing of the call happened. */
export class StorageError extends define('STORAGE', true) {}
/** The call would leave no entry in the audit, so it was refused, and nothing of it happened. Reads are answered, and jobs run. */
export class AuditUnavailableError extends define('AUDIT_UNAVAILABLE', true) {}
/** The commit's outcome is unknown: the call may or may not have happened. Safe to repeat with an idempotency key. */
export class CommitUnknownError extends define('COMMIT_UNKNOWN', true) {}
/** A bug, or a broken file: one call's fault, and only that call is refused. */
export class InternalError extends define('INTERNAL', false) {}

// The engine's own state.

/** The queue takes no new work just now. `retryAfter` is in milliseconds. */
export class BusyError extends define('BUSY', true) {
  declare readonly retryAfter: number
}
/** The writer failed again and again; open the file again. */
export class EngineFailedError extends define('ENGINE_FAILED', false) {}
/** The engine was stopped before the call. */
export class EngineStoppedError extends define('ENGINE_STOPPED', false) {}

// Jobs.

/** No job has that id: it never existed, or it was deleted, by a call or by retention. Or no job holds that key. */
export class JobNotFoundError extends define('JOB_NOT_FOUND', false) {
  /** Empty if the call named the job by a key. */
  declare readonly jobId: string
}
/** The job is running: what was asked for is only possible before or after. */
export class JobActiveError extends define('JOB_ACTIVE', true) {
  declare readonly jobId: string
}
/** The job has reached a final state. */
export class JobFinishedError extends define('JOB_FINISHED', false) {
  declare readonly jobId: string
}
/** `result()` of a job that failed permanently. `cause` is the last attempt's error, with its own `code` and `cause`. */
export class JobFailedError extends define('JOB_FAILED', false) {
  declare readonly cause: HandlerError
  declare readonly jobId: string
}
/** `result()` of a cancelled job; also the abort reason of a cancelled job's signal. */
export class JobCancelledError extends define('JOB_CANCELLED', false) {
  declare readonly jobId: string
  /** The reason that was given; undefined if none was. */
  declare readonly reason?: string
  /** The name of the token or the worker that asked for it, or what the caller said; undefined if none is known. */
  declare readonly by?: string
}
/** `result()` did not come within its timeout; the job continues. */
export class ResultTimeoutError extends define('RESULT_TIMEOUT', true) {
  declare readonly jobId: string
}
/** A live job, or another job of the same call, holds the unique key, and `onConflict` is `'error'`. */
export class UniqueConflictError extends define('UNIQUE_CONFLICT', false) {
  /** The live job. Empty if the key is that of another job of the same call. */
  declare readonly jobId: string
}
/** There are as many queues as `maxQueues` allows, and the call would make another one. */
export class TooManyQueuesError extends define('TOO_MANY_QUEUES', false) {
  declare readonly queue: string
  declare readonly maxQueues: number
}
/** There are as many job names as a store keeps, and the call would make another one. */
export class TooManyNamesError extends define('TOO_MANY_NAMES', false) {
  /** The job name that would be one too many. */
  declare readonly job: string
  /** Its queue; empty for a worker's definition, which is of no queue. */
  declare readonly queue: string
  declare readonly maxNames: number
}
/** The queue holds as many jobs that have yet to start as its `maxLength` allows. */
export class QueueFullError extends define('QUEUE_FULL', true) {
  declare readonly queue: string
  declare readonly maxLength: number
}
/** The queue takes no new jobs until it is resumed: it is being drained. */
export class QueueDrainingError extends define('QUEUE_DRAINING', true) {
  declare readonly queue: string
}
/** `queues.drain` has not come to its end: jobs of the queue were left after `timeout`, or it was resumed. */
export class DrainIncompleteError extends define('DRAIN_INCOMPLETE', true) {
  declare readonly queue: string
}
/** There is no queue of that name: it is created by its first job, or by `queues.configure`. */
export class QueueNotFoundError extends define('QUEUE_NOT_FOUND', false) {
  declare readonly queue: string
}
/** Only an empty queue is deleted. `jobs` is how many there are, finished ones included. */
export class QueueNotEmptyError extends define('QUEUE_NOT_EMPTY', true) {
  declare readonly queue: string
  declare readonly jobs: number
}
/** The codec threw, or returned something other than bytes. A job whose data cannot be decoded fails at once. */
export class CodecError extends define('CODEC', false) {}
/** The payload does not satisfy the job's schema. */
export class ValidationError extends define('VALIDATION', false) {
  declare readonly issues: readonly { readonly message: string; readonly path?: readonly (string | number)[] }[]
}

// Schedules.

/** No schedule has that id. */
export class ScheduleNotFoundError extends define('SCHEDULE_NOT_FOUND', false) {
  declare readonly scheduleId: string
}
/** `schedules.add` met a schedule with that id; nothing was changed. */
export class ScheduleExistsError extends define('SCHEDULE_EXISTS', false) {
  declare readonly scheduleId: string
}
/** The schedule was changed between being read and being written; nothing of the call happened. */
export class ScheduleChangedError extends define('SCHEDULE_CHANGED', true) {
  declare readonly scheduleId: string
}
/** The engine cannot make sense of a schedule: its expression, its zone, or its job. */
export class InvalidScheduleError extends define('INVALID_SCHEDULE', false) {}

// Runs.

/** The run named is not the job's current one: it was fenced, and nothing changed. */
export class StaleRunError extends define('STALE_RUN', false) {}
/** The attempt ran past its deadline. Also the abort reason of its signal. */
export class JobTimeoutError extends define('JOB_TIMEOUT', true) {}
/** The job was not started within its `ttl`. */
export class JobExpiredError extends define('JOB_EXPIRED', false) {}
/** The worker's process died, or was silent for longer than its lease. */
export class WorkerLostError extends define('WORKER_LOST', true) {}
/** No worker of that id is attached. */
export class WorkerNotFoundError extends define('WORKER_NOT_FOUND', false) {
  declare readonly workerId: string
}
/** The abort reason of a run that its worker no longer owns. */
export class LeaseLostError extends define('LEASE_LOST', true) {}
/** The abort reason of a run whose worker is stopping. */
export class WorkerStoppedError extends define('WORKER_STOPPED', true) {}
/** The job was never run: one that it waited for failed, was cancelled or was deleted. Also of a retry, while that is still so. */
export class ParentFailedError extends define('PARENT_FAILED', false) {
  declare readonly jobId: string
}
/** The job waits for others: what was asked for is only possible once they have ended. */
export class JobBlockedError extends define('JOB_BLOCKED', true) {
  declare readonly jobId: string
}
/** The job waits for the time that it was given, and no attempt of it has failed: there is nothing to retry. `runNow` starts it early. */
export class JobScheduledError extends define('JOB_SCHEDULED', false) {
  declare readonly jobId: string
}
/** A handler gave its job up through `discard`. */
export class DiscardedError extends define('DISCARDED', false) {}

// Connections to an engine in another process.

/** The connection broke before the answer: the call may or may not have happened. Safe to repeat with the same `idempotencyKey`. */
export class ConnectionLostError extends define('CONNECTION_LOST', true) {}
/** The server does not know the token, or wants one and got none. */
export class AuthFailedError extends define('AUTH_FAILED', false) {}
/** The token is good, and does not allow this call. Nothing of it happened. */
export class ForbiddenError extends define('FORBIDDEN', false) {}
/** The two ends have no version of the protocol in common. */
export class VersionMismatchError extends define('VERSION_MISMATCH', false) {}
/** One end has said what the protocol does not allow: the two do not fit together. */
export class ProtocolError extends define('PROTOCOL', false) {}
/** A call, or its answer, is larger than what crosses a connection. */
export class TooLargeError extends define('TOO_LARGE', false) {}

const BY_CODE = {
  ALREADY_OPEN: AlreadyOpenError,
  OWNER_LOST: OwnerLostError,
  NOT_A_DATABASE: NotADatabaseError,
  FILE_TRUNCATED: FileTruncatedError,
  FOREIGN_LOG: ForeignLogError,
  SCHEMA_TOO_NEW: SchemaTooNewError,
  SCHEMA_TOO_OLD: SchemaTooOldError,
  NOT_WRITABLE: NotWritableError,
  UNSAFE_FILESYSTEM: UnsafeFilesystemError,
  STORE_MOVED: StoreMovedError,
  STORE_MOVING: StoreMovingError,
  MOVE_REFUSED: MoveRefusedError,
  UNSUPPORTED_RUNTIME: UnsupportedRuntimeError,
  UNSUPPORTED: UnsupportedError,
  DISK_FULL: DiskFullError,
  STORAGE_BUSY: StorageBusyError,
  STORAGE: StorageError,
  AUDIT_UNAVAILABLE: AuditUnavailableError,
  COMMIT_UNKNOWN: CommitUnknownError,
  INTERNAL: InternalError,
  BUSY: BusyError,
  ENGINE_FAILED: EngineFailedError,
  ENGINE_STOPPED: EngineStoppedError,
  JOB_NOT_FOUND: JobNotFoundError,
  JOB_ACTIVE: JobActiveError,
  JOB_FINISHED: JobFinishedError,
  JOB_FAILED: JobFailedError,
  JOB_CANCELLED: JobCancelledError,
  RESULT_TIMEOUT: ResultTimeoutError,
  UNIQUE_CONFLICT: UniqueConflictError,
  TOO_MANY_QUEUES: TooManyQueuesError,
  TOO_MANY_NAMES: TooManyNamesError,
  QUEUE_FULL: QueueFullError,
  QUEUE_DRAINING: QueueDrainingError,
  DRAIN_INCOMPLETE: DrainIncompleteError,
  QUEUE_NOT_EMPTY: QueueNotEmptyError,
  QUEUE_NOT_FOUND: QueueNotFoundError,
  VALIDATION: ValidationError,
  CODEC: CodecError,
  SCHEDULE_NOT_FOUND: ScheduleNotFoundError,
  SCHEDULE_EXISTS: ScheduleExistsError,
  SCHEDULE_CHANGED: ScheduleChangedError,
  INVALID_SCHEDULE: InvalidScheduleError,
  STALE_RUN: StaleRunError,
  JOB_TIMEOUT: JobTimeoutError,
  JOB_EXPIRED: JobExpiredError,
  WORKER_LOST: WorkerLostError,
  WORKER_NOT_FOUND: WorkerNotFoundError,
  LEASE_LOST: LeaseLostError,
  WORKER_STOPPED: WorkerStoppedError,
  PARENT_FAILED: ParentFailedError,
  JOB_BLOCKED: JobBlockedError,
  JOB_SCHEDULED: JobScheduledError,
  DISCARDED: DiscardedError,
  CONNECTION_LOST: ConnectionLostError,
  AUTH_FAILED: AuthFailedError,
  FORBIDDEN: ForbiddenError,
  VERSION_MISMATCH: VersionMismatchError,
  PROTOCOL: ProtocolError,
  TOO_LARGE: TooLargeError,
} as const

/** The two of misuse are found at the border, or by a server for a client that does not check its options. */
export type ErrorCode = keyof typeof BY_CODE | 'OPTION_TYPE' | 'OPTION_RANGE'

export const ERROR_CODES = [...Object.keys(BY_CODE), 'OPTION_TYPE', 'OPTION_RANGE'] as readonly ErrorCode[]

/** The error that a refusal stands for. */
export function errorFrom({ code, message, details }: Refusal, options?: ErrorOptions): MillraceError | OptionTypeError | OptionRangeError {
  if (code === 'OPTION_TYPE') return new OptionTypeError(String(details?.['option']), message)
  if (code === 'OPTION_RANGE') return new OptionRangeError(String(details?.['option']), details?.['limit'] as number | string, message)
  // A newer peer may know more codes.
  return new (BY_CODE[code] ?? InternalError)(message, details, options)
}

// Misuse.

/** An option that is unknown or of the wrong type. */
export class OptionTypeError extends TypeError {
  readonly code = 'OPTION_TYPE'
  readonly retryable = false
  readonly option: string
  constructor(option: string, message: string) {
    super(message)
    this.name = 'OptionTypeError'
    this.option = option
  }
}

/** An option whose value is out of range; `limit` is the bound that it broke. */
export class OptionRangeError extends RangeError {
  readonly code = 'OPTION_RANGE'
  readonly retryable = false
  readonly option: string
  readonly limit: number | string
  constructor(option: string, limit: number | string, message: string) {
    super(message)
    this.name = 'OptionRangeError'
    this.option = option
    this.limit = limit
  }
}

// Thrown by handlers, to say what their failure means.

/** Thrown by a handler: fail at once, without further attempts. */
export class NonRetryableError extends Error {
  override readonly name: string = 'NonRetryableError'
  readonly code = 'NON_RETRYABLE'
}

/** Thrown by a handler: cancel this job, without further attempts. The message is the reason. */
export class CancelJobError extends Error {
  override readonly name: string = 'CancelJobError'
  readonly code = 'CANCEL_JOB'
}

/** Thrown by a handler: try again after this long, instead of the job's backoff. */
export class RetryAfterError extends Error {
  override readonly name: string = 'RetryAfterError'
  readonly code = 'RETRY_AFTER'
  /** Milliseconds. */
  readonly delay: number
  /** @internal True if a longer backoff of the job counts. */
  declare readonly atLeast?: true
  constructor(duration: Duration, message?: string, options?: ErrorOptions) {
    const delay = parseDuration(duration)
    if (delay === undefined || !(delay >= 0) || delay === Number.POSITIVE_INFINITY) {
      throw new OptionTypeError(
        'duration',
        `RetryAfterError takes a duration of 0 or more (milliseconds, '5m' or { minutes: 5 }), got ${describe(duration)}`,
      )
    }
    super(message ?? `retry after ${delay} ms`, options)
    this.delay = delay
  }
}

/**
 * The error catalogue. Three kinds of wrong: misuse throws OptionTypeError or OptionRangeError at the border; operating
 * trouble is a MillraceError with a stable `code`; a broken invariant is InternalError.
 */
import { type Duration, parseDuration } from './duration.ts'
import { describe } from './options/describe.ts'
import type { HandlerError } from './runError.ts'

/**
 * The meaning of an error to a caller. Its status over HTTP and its exit code follow from it. A 'failure' is the engine's own or a run's:
 * its message is not shown over HTTP.
 */
export type ErrorCategory =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not-found'
  | 'conflict'
  | 'too-large'
  | 'unsupported'
  | 'unavailable'
  | 'no-space'
  | 'disconnected'
  | 'incompatible'
  | 'interrupted'
  | 'failure'

/** The base of every error that the queue itself raises. */
export abstract class MillraceError extends Error {
  /** Stable: the class's name in capitals, without `Error`. */
  readonly code: string
  /** True if the same call may succeed later, unchanged. */
  readonly retryable: boolean

  constructor(code: string, retryable: boolean, message: string, details?: Readonly<Record<string, unknown>>, options?: ErrorOptions) {
    super(message, options)
    // The details may come from a newer peer or an application, and the class alone says the category.
    const { category: _category, ...fields } = details ?? {}
    Object.assign(this, fields)
    this.name = new.target.name
    this.code = code
    this.retryable = retryable
  }

  /** @internal */
  get category(): ErrorCategory {
    return 'failure'
  }
}

/** The meaning of a code. */
export interface ErrorRow {
  /** Default: 'failure'. */
  readonly category?: ErrorCategory
  /** Default: false. */
  readonly retryable?: boolean
}

type Details = Readonly<Record<string, unknown>>

/**
 * The row of a code, as the class that the error extends. The comment of that class is the sentence of docs/reference/errors.md. Packages
 * define the codes that only they know in the same way.
 */
export function define<Code extends string>(code: Code, { category = 'failure', retryable = false }: ErrorRow = {}) {
  return class extends MillraceError {
    static readonly code = code
    constructor(message: string = code, details?: Details, options?: ErrorOptions) {
      super(code, retryable, message, details, options)
    }
    override get category() {
      return category
    }
  }
}

// Opening a file, and owning it.

/** Another process, or this one, owns the file or the schema. `pid` and `host` name the owner if it is known. */
export class AlreadyOpenError extends define('ALREADY_OPEN', { retryable: true }) {
  declare readonly pid?: number
  declare readonly host?: string
}
/** Another engine has taken the store over, or its files were taken away: this one has stopped writing. */
export class OwnerLostError extends define('OWNER_LOST', { category: 'unavailable' }) {
  /** The file that was taken away; undefined if another engine has the store. */
  declare readonly path?: string
}
/** The file is no SQLite database, or not one of Millrace's. */
export class NotADatabaseError extends define('NOT_A_DATABASE') {}
/** The file was emptied or cut: it has no content or lacks its end, and held more. Opening it as a new one would hide the loss. */
export class FileTruncatedError extends define('FILE_TRUNCATED') {}
/** The write-ahead log beside the file belongs to another file: replaying it would break this one. */
export class ForeignLogError extends define('FOREIGN_LOG') {}
/** The file was written by a newer version that older ones must not open. */
export class SchemaTooNewError extends define('SCHEMA_TOO_NEW') {}
/** The store has an older schema, and `autoMigrate` is off: `millrace migrate` brings it up to date. Or it was made before 0.1.0. */
export class SchemaTooOldError extends define('SCHEMA_TOO_OLD') {}
/** The folder or the file cannot be created or written. */
export class NotWritableError extends define('NOT_WRITABLE') {}
/** The file lies on a kind of file system that loses locks or syncs. */
export class UnsafeFilesystemError extends define('UNSAFE_FILESYSTEM') {}
/** The content of the store has been moved to another one, which `movedTo` names: open that. */
export class StoreMovedError extends define('STORE_MOVED') {
  declare readonly movedTo: string
}
/** A move into the store was interrupted. The same move continues from there; until its end nobody can open the store. */
export class StoreMovingError extends define('STORE_MOVING') {}
/** The content of a store cannot be moved as it is; the message says why, and what to do. The source keeps all of it. */
export class MoveRefusedError extends define('MOVE_REFUSED') {}
/** This runtime, or this way of bundling, cannot run the engine; the message says what can. */
export class UnsupportedRuntimeError extends define('UNSUPPORTED_RUNTIME') {}
/** The Port behind this engine does not offer what was asked for. */
export class UnsupportedError extends define('UNSUPPORTED', { category: 'unsupported' }) {
  /** The setting that conflicts with another one, if that is the reason: with other settings, the engine offers it. */
  declare readonly option?: string
  override get category() {
    return this.option === undefined ? super.category : 'invalid'
  }
}

// The store in trouble.

/** The disk is full: new work is refused, running jobs complete, service resumes automatically when there is room. */
export class DiskFullError extends define('DISK_FULL', { category: 'no-space', retryable: true }) {
  /** The number of bytes that must be free before new work is accepted again, if known. */
  declare readonly neededBytes?: number
}
/** Another program holds on to the file for too long: its write lock, or a read that keeps the write-ahead log from being folded in. */
export class StorageBusyError extends define('STORAGE_BUSY', { category: 'unavailable', retryable: true }) {}
/** The store failed before the commit: nothing of the call happened. */
export class StorageError extends define('STORAGE', { category: 'unavailable', retryable: true }) {}
/** The call would leave no entry in the audit, so it was refused, and nothing of it happened. Reads are answered, and jobs run. */
export class AuditUnavailableError extends define('AUDIT_UNAVAILABLE', { category: 'unavailable', retryable: true }) {}
/** The commit's outcome is unknown: the call may or may not have happened. Safe to repeat with an idempotency key. */
export class CommitUnknownError extends define('COMMIT_UNKNOWN', { category: 'unavailable', retryable: true }) {}
/** A bug, or a broken file: one call's fault, and only that call is refused. */
export class InternalError extends define('INTERNAL') {}

// The engine's own state.

/** The queue takes no new work just now. `retryAfter` is in milliseconds. */
export class BusyError extends define('BUSY', { category: 'unavailable', retryable: true }) {
  declare readonly retryAfter: number
}
/** The writer failed again and again; open the file again. */
export class EngineFailedError extends define('ENGINE_FAILED', { category: 'unavailable' }) {}
/** The engine was stopped before the call. */
export class EngineStoppedError extends define('ENGINE_STOPPED', { category: 'unavailable' }) {}

// Jobs.

/** No job has that id: it never existed, or it was deleted, by a call or by retention. Or no job holds that key. */
export class JobNotFoundError extends define('JOB_NOT_FOUND', { category: 'not-found' }) {
  /** Empty if the call named the job by a key. */
  declare readonly jobId: string
}
/** The job is running: what was asked for is only possible before or after. */
export class JobActiveError extends define('JOB_ACTIVE', { category: 'conflict', retryable: true }) {
  declare readonly jobId: string
}
/** The job has reached a final state. */
export class JobFinishedError extends define('JOB_FINISHED', { category: 'conflict' }) {
  declare readonly jobId: string
}
/** `result()` of a job that failed permanently. `cause` is the last attempt's error, with its own `code` and `cause`. */
export class JobFailedError extends define('JOB_FAILED') {
  declare readonly cause: HandlerError
  declare readonly jobId: string
}
/** `result()` of a cancelled job; also the abort reason of a cancelled job's signal. */
export class JobCancelledError extends define('JOB_CANCELLED') {
  declare readonly jobId: string
  /** The reason that was given; undefined if none was. */
  declare readonly reason?: string
  /** The name of the token or the worker that asked for it, or what the caller said; undefined if none is known. */
  declare readonly by?: string
}
/** `result()` did not come within its timeout; the job continues. */
export class ResultTimeoutError extends define('RESULT_TIMEOUT', { retryable: true }) {
  declare readonly jobId: string
}
/** A live job, or another job of the same call, holds the unique key, and `onConflict` is `'error'`. */
export class UniqueConflictError extends define('UNIQUE_CONFLICT', { category: 'conflict' }) {
  /** The live job. Empty if the key is that of another job of the same call. */
  declare readonly jobId: string
}
/** There are as many queues as `maxQueues` allows, and the call would make another one. */
export class TooManyQueuesError extends define('TOO_MANY_QUEUES', { category: 'conflict' }) {
  declare readonly queue: string
  declare readonly maxQueues: number
}
/** There are as many job names as a store keeps, and the call would make another one. */
export class TooManyNamesError extends define('TOO_MANY_NAMES', { category: 'conflict' }) {
  /** The job name that would be one too many. */
  declare readonly job: string
  /** Its queue; empty for a worker's definition, which is of no queue. */
  declare readonly queue: string
  declare readonly maxNames: number
}
/** The queue holds as many jobs that have yet to start as its `maxLength` allows. */
export class QueueFullError extends define('QUEUE_FULL', { category: 'unavailable', retryable: true }) {
  declare readonly queue: string
  declare readonly maxLength: number
}
/** The queue takes no new jobs until it is resumed: it is being drained. */
export class QueueDrainingError extends define('QUEUE_DRAINING', { category: 'unavailable', retryable: true }) {
  declare readonly queue: string
}
/** `queues.drain` has not come to its end: jobs of the queue were left after `timeout`, or it was resumed. */
export class DrainIncompleteError extends define('DRAIN_INCOMPLETE', { retryable: true }) {
  declare readonly queue: string
}
/** There is no queue of that name: it is created by its first job, or by `queues.configure`. */
export class QueueNotFoundError extends define('QUEUE_NOT_FOUND', { category: 'not-found' }) {
  declare readonly queue: string
}
/** Only an empty queue is deleted. `jobs` is how many there are, finished ones included. */
export class QueueNotEmptyError extends define('QUEUE_NOT_EMPTY', { category: 'conflict', retryable: true }) {
  declare readonly queue: string
  declare readonly jobs: number
}
/** The codec threw, or returned something other than bytes. A job whose data cannot be decoded fails at once. */
export class CodecError extends define('CODEC') {}
/** The payload does not satisfy the job's schema. */
export class ValidationError extends define('VALIDATION', { category: 'invalid' }) {
  declare readonly issues: readonly { readonly message: string; readonly path?: readonly (string | number)[] }[]
}

// Schedules.

/** No schedule has that id. */
export class ScheduleNotFoundError extends define('SCHEDULE_NOT_FOUND', { category: 'not-found' }) {
  declare readonly scheduleId: string
}
/** `schedules.add` met a schedule with that id; nothing was changed. */
export class ScheduleExistsError extends define('SCHEDULE_EXISTS', { category: 'conflict' }) {
  declare readonly scheduleId: string
}
/** The schedule was changed between being read and being written; nothing of the call happened. */
export class ScheduleChangedError extends define('SCHEDULE_CHANGED', { category: 'conflict', retryable: true }) {
  declare readonly scheduleId: string
}
/** The engine cannot make sense of a schedule: its expression, its zone, or its job. */
export class InvalidScheduleError extends define('INVALID_SCHEDULE', { category: 'invalid' }) {}

// Runs.

/** The run named is not the job's current one: it was fenced, and nothing changed. */
export class StaleRunError extends define('STALE_RUN', { category: 'conflict' }) {}
/** The attempt ran past its deadline. Also the abort reason of its signal. */
export class JobTimeoutError extends define('JOB_TIMEOUT', { retryable: true }) {}
/** The job was not started within its `ttl`. */
export class JobExpiredError extends define('JOB_EXPIRED') {}
/** The worker's process died, or was silent for longer than its lease. */
export class WorkerLostError extends define('WORKER_LOST', { retryable: true }) {}
/** No worker of that id is attached. */
export class WorkerNotFoundError extends define('WORKER_NOT_FOUND', { category: 'not-found' }) {
  declare readonly workerId: string
}
/** The abort reason of a run that its worker no longer owns. */
export class LeaseLostError extends define('LEASE_LOST', { retryable: true }) {}
/** The abort reason of a run whose worker is stopping. */
export class WorkerStoppedError extends define('WORKER_STOPPED', { retryable: true }) {}
/** The job was never run: one that it waited for failed, was cancelled or was deleted. Also of a retry, while that is still so. */
export class ParentFailedError extends define('PARENT_FAILED', { category: 'conflict' }) {
  declare readonly jobId: string
}
/** The job waits for others: what was asked for is only possible once they have ended. */
export class JobBlockedError extends define('JOB_BLOCKED', { category: 'conflict', retryable: true }) {
  declare readonly jobId: string
}
/** The job waits for the time that it was given, and no attempt of it has failed: there is nothing to retry. `runNow` starts it early. */
export class JobScheduledError extends define('JOB_SCHEDULED', { category: 'conflict' }) {
  declare readonly jobId: string
}
/** The handler continued after a step had failed, so a retry has several places to resume at: give `from`. */
export class AmbiguousRetryError extends define('AMBIGUOUS_RETRY', { category: 'conflict' }) {
  declare readonly jobId: string
}
/** `retry` with `from`: the job has recorded no result of that name. */
export class StepNotFoundError extends define('STEP_NOT_FOUND', { category: 'not-found' }) {
  declare readonly jobId: string
  declare readonly step: string
}
/** The job keeps as many messages as it may: its handler takes them too slowly, or waits for others. */
export class MessagesFullError extends define('MESSAGES_FULL', { category: 'conflict', retryable: true }) {
  declare readonly jobId: string
}
/** A handler gave its job up through `discard`. */
export class DiscardedError extends define('DISCARDED') {}

// Connections to an engine in another process.

/** The connection broke before the answer: the call may or may not have happened. Safe to repeat with the same `idempotencyKey`. */
export class ConnectionLostError extends define('CONNECTION_LOST', { category: 'disconnected', retryable: true }) {}
/** The server does not know the token, or wants one and got none. */
export class AuthFailedError extends define('AUTH_FAILED', { category: 'unauthenticated' }) {}
/** The token is good, and does not allow this call. Nothing of it happened. */
export class ForbiddenError extends define('FORBIDDEN', { category: 'forbidden' }) {}
/** The two ends have no version of the protocol in common. */
export class VersionMismatchError extends define('VERSION_MISMATCH', { category: 'incompatible' }) {}
/** One end has said what the protocol does not allow: the two do not fit together. */
export class ProtocolError extends define('PROTOCOL', { category: 'incompatible' }) {}
/** A call, or its answer, is larger than what crosses a connection. */
export class TooLargeError extends define('TOO_LARGE', { category: 'too-large' }) {}

// Misuse.

/** An option that is unknown or of the wrong type. */
export class OptionTypeError extends TypeError {
  static readonly code = 'OPTION_TYPE'
  readonly code = 'OPTION_TYPE'
  readonly retryable = false
  readonly option: string
  constructor(option: string, message: string) {
    super(message)
    this.name = 'OptionTypeError'
    this.option = option
  }
  /** @internal */
  get category(): ErrorCategory {
    return 'invalid'
  }
}

/** An option whose value is out of range; `limit` is the bound that it broke. */
export class OptionRangeError extends RangeError {
  static readonly code = 'OPTION_RANGE'
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
  /** @internal */
  get category(): ErrorCategory {
    return 'invalid'
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

/** A step of a handler has failed permanently: it had no attempts left, or its error allows none. `cause` is the error of its last attempt. */
export class StepFailedError extends Error {
  override readonly name: string = 'StepFailedError'
  readonly code = 'STEP_FAILED'
  /** The name of the step. */
  readonly step: string
  constructor(step: string, cause: HandlerError) {
    super(`step '${step}' has failed: ${cause.message}`, { cause })
    this.step = step
  }
}

/**
 * The handler asks for other durable calls than those that its job has recorded. It uses no attempt: the job is put off until code fits.
 * It is the error of such a run; no handler gets it.
 */
export class StepsChangedError extends Error {
  override readonly name: string = 'StepsChangedError'
  readonly code = 'STEPS_CHANGED'
  /**
   * @param asked the name that the handler asks for; undefined if it has returned
   * @param recorded the name that its job has recorded next
   */
  constructor(asked: string | undefined, recorded: string) {
    const does = asked === undefined ? 'has returned' : `asks for '${asked}'`
    super(`the handler ${does}, and its job has recorded '${recorded}' next: guard the change with changed('...'), or run the earlier code`)
  }
}

/**
 * The abort reason of a run that a durable call has ended: the job sleeps, or a step has failed, which is the `cause`. What is left of the
 * handler does not continue. A later run comes back to the same place.
 */
export class RunSuspended extends Error {
  override readonly name: string = 'RunSuspended'
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

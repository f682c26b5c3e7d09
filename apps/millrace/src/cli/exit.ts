/** The exit codes of the command line. Scripts rely on them: they are in docs/cli.md, and never change. */

export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  notFound: 3,
  /** The call is too late or conflicts with another: the job runs or has ended, a key is taken, or a queue has jobs. */
  conflict: 4,
  /** The same command may succeed later. */
  busy: 5,
  connection: 6,
  interrupted: 130,
} as const

/** The commands that run until a signal: it ends them with 0, also while they start. It interrupts all others. */
export const UNTIL_SIGNAL: ReadonlySet<string> = new Set(['serve', 'demo start', 'demo worker', 'worker start'])

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

const BY_CODE: Readonly<Record<string, ExitCode>> = {
  USAGE: EXIT.usage,
  CONFIG: EXIT.usage,
  OPTION_TYPE: EXIT.usage,
  OPTION_RANGE: EXIT.usage,
  VALIDATION: EXIT.usage,
  INVALID_SCHEDULE: EXIT.usage,
  MISSING_PACKAGE: EXIT.usage,
  NOT_FOUND: EXIT.notFound,
  NO_FILE: EXIT.notFound,
  TOKEN_NOT_FOUND: EXIT.notFound,
  ENDPOINT_NOT_FOUND: EXIT.notFound,
  JOB_NOT_FOUND: EXIT.notFound,
  SCHEDULE_NOT_FOUND: EXIT.notFound,
  WORKER_NOT_FOUND: EXIT.notFound,
  QUEUE_NOT_FOUND: EXIT.notFound,
  TOKEN_EXISTS: EXIT.conflict,
  WORKER_EXISTS: EXIT.conflict,
  JOB_ACTIVE: EXIT.conflict,
  JOB_FINISHED: EXIT.conflict,
  JOB_BLOCKED: EXIT.conflict,
  JOB_SCHEDULED: EXIT.conflict,
  PARENT_FAILED: EXIT.conflict,
  UNIQUE_CONFLICT: EXIT.conflict,
  QUEUE_NOT_EMPTY: EXIT.conflict,
  SCHEDULE_CHANGED: EXIT.conflict,
  SCHEDULE_EXISTS: EXIT.conflict,
  TOO_MANY_QUEUES: EXIT.conflict,
  TOO_MANY_NAMES: EXIT.conflict,
  CONNECT_FAILED: EXIT.connection,
  CONNECTION_LOST: EXIT.connection,
  AUTH_FAILED: EXIT.connection,
  FORBIDDEN: EXIT.connection,
  VERSION_MISMATCH: EXIT.connection,
  PROTOCOL: EXIT.connection,
  SOURCE: EXIT.connection,
  INTERRUPTED: EXIT.interrupted,
}

/**
 * Returns the exit code of an error code. A code that is not listed is busy if the call is retryable, and a failure otherwise.
 * An engine that names an `option` as unsupported can do what was asked, but not with its other settings: that is misuse.
 */
export function exitCodeOf(code: string, retryable: boolean, option?: unknown): ExitCode {
  if (code === 'UNSUPPORTED' && option !== undefined) return EXIT.usage
  return BY_CODE[code] ?? (retryable ? EXIT.busy : EXIT.failure)
}

/** Errors that only the command line throws. The engine throws all others. */
import { MillraceError } from '@millrace/core'

/** The arguments do not fit together. */
export class UsageError extends MillraceError {
  static readonly code = 'USAGE'
  constructor(message: string, options?: ErrorOptions) {
    super(UsageError.code, false, message, undefined, options)
  }
}

/** A flag requires a package that is not installed beside this one. */
export class MissingPackageError extends MillraceError {
  static readonly code = 'MISSING_PACKAGE'
  constructor(flag: string, name: string, options?: ErrorOptions) {
    super(
      MissingPackageError.code,
      false,
      `${flag} requires the package ${name}: install it beside millrace, npm install ${name}`,
      undefined,
      options,
    )
  }
}

/** There is no file at the target, or an empty one, and the command creates no database. */
export class NoFileError extends MillraceError {
  static readonly code = 'NO_FILE'
  constructor(file: string, isEmpty = false) {
    super(
      NoFileError.code,
      false,
      `${isEmpty ? `there is nothing in ${file} yet` : `there is no file ${file}`}: name another with --file or MILLRACE_FILE, or a running engine with --url. The first job creates the file: millrace enqueue`,
    )
  }
}

/** There is no queue or worker with that name. */
export class NotFoundError extends MillraceError {
  static readonly code = 'NOT_FOUND'
  constructor(message: string) {
    super(NotFoundError.code, false, message)
  }
}

/** A worker of this machine has the name already. */
export class WorkerExistsError extends MillraceError {
  static readonly code = 'WORKER_EXISTS'
  constructor(id: string, pid: number) {
    super(
      WorkerExistsError.code,
      false,
      `the worker ${id} runs already on this machine, as process ${pid}: give another --id, or stop it with millrace worker stop ${id}`,
    )
  }
}

/** A check has found problems, or some of many items have failed. They have already been reported. */
export class FailedError extends MillraceError {
  static readonly code = 'FAILED'
  constructor(message: string, options?: ErrorOptions) {
    super(FailedError.code, false, message, undefined, options)
  }
}

/** The command ended before it was done: by a signal, or because it was not confirmed. */
export class InterruptedError extends MillraceError {
  static readonly code = 'INTERRUPTED'
  constructor() {
    super(InterruptedError.code, false, 'interrupted')
  }
}

/** The answer cannot be written to stdout, for example because the disk is full. */
export class OutputFailedError extends MillraceError {
  static readonly code = 'OUTPUT_FAILED'
  constructor(cause: Error) {
    const message = `cannot write the answer to stdout: ${cause.message}. The command may have done its work: send its output elsewhere`
    super(OutputFailedError.code, false, message, undefined, { cause })
  }
}

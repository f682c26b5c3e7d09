/** Errors that only the command line throws. The engine throws all others. */
import { define } from '@millrace/core'

/** The arguments do not fit together. */
export class UsageError extends define('USAGE', { category: 'invalid' }) {
  constructor(message: string, options?: ErrorOptions) {
    super(message, undefined, options)
  }
}

/** A flag requires a package that is not installed beside this one. */
export class MissingPackageError extends define('MISSING_PACKAGE', { category: 'invalid' }) {
  constructor(flag: string, name: string, options?: ErrorOptions) {
    super(`${flag} requires the package ${name}: install it beside millrace, npm install ${name}`, undefined, options)
  }
}

/** There is no file at the target, or an empty one, and the command creates no database. */
export class NoFileError extends define('NO_FILE', { category: 'not-found' }) {
  constructor(file: string, isEmpty = false) {
    super(
      `${isEmpty ? `there is nothing in ${file} yet` : `there is no file ${file}`}: name another with --file or MILLRACE_FILE, or a running engine with --url. The first job creates the file: millrace enqueue`,
    )
  }
}

/** There is no queue or worker with that name. */
export class NotFoundError extends define('NOT_FOUND', { category: 'not-found' }) {}

/** A worker of this machine has the name already. */
export class WorkerExistsError extends define('WORKER_EXISTS', { category: 'conflict' }) {
  constructor(id: string, pid: number) {
    super(`the worker ${id} runs already on this machine, as process ${pid}: give another --id, or stop it with millrace worker stop ${id}`)
  }
}

/** A check has found problems, or some of many items have failed. They have already been reported. */
export class FailedError extends define('FAILED') {
  constructor(message: string, options?: ErrorOptions) {
    super(message, undefined, options)
  }
}

/** The command ended before it was done: by a signal, or because it was not confirmed. */
export class InterruptedError extends define('INTERRUPTED', { category: 'interrupted' }) {
  constructor() {
    super('interrupted')
  }
}

/** The answer cannot be written to stdout, for example because the disk is full. */
export class OutputFailedError extends define('OUTPUT_FAILED') {
  constructor(cause: Error) {
    super(`cannot write the answer to stdout: ${cause.message}. The command may have done its work: send its output elsewhere`, undefined, {
      cause,
    })
  }
}

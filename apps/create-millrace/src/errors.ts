/** Errors of creating a project. Each says what to do next. */
import { define, type MillraceError } from '@millrace/core'

/** The arguments are unknown, incomplete or do not fit together. */
export class UsageError extends define('USAGE', { category: 'invalid' }) {}

/** The folder has files, or is a file. Nothing in it was changed. */
export class FolderNotEmptyError extends define('FOLDER_NOT_EMPTY') {}

/** The folder cannot be written. Nothing of the project is there. */
export class NotCreatedError extends define('NOT_CREATED') {
  constructor(message: string, options: ErrorOptions) {
    super(message, undefined, options)
  }
}

/** The project is complete, but its packages could not be installed. */
export class InstallError extends define('INSTALL', { retryable: true }) {}

/** The user ended the questions. Nothing was created. */
export class InterruptedError extends define('INTERRUPTED', { category: 'interrupted' }) {
  constructor() {
    super('interrupted: nothing was created')
  }
}

/** Returns the exit code of an error: 2 for wrong arguments, 130 for an interruption, otherwise 1. */
export function exitCodeOf({ category }: MillraceError): number {
  if (category === 'interrupted') return 130
  return category === 'invalid' ? 2 : 1
}

/** Errors of creating a project. Each says what to do next. */
import { MillraceError } from '@millrace/core'

/** The arguments are unknown, incomplete or do not fit together. */
export class UsageError extends MillraceError {
  static readonly code = 'USAGE'
  constructor(message: string) {
    super(UsageError.code, false, message)
  }
}

/** The folder has files, or is a file. Nothing in it was changed. */
export class FolderNotEmptyError extends MillraceError {
  static readonly code = 'FOLDER_NOT_EMPTY'
  constructor(message: string) {
    super(FolderNotEmptyError.code, false, message)
  }
}

/** The folder cannot be written. Nothing of the project is there. */
export class NotCreatedError extends MillraceError {
  static readonly code = 'NOT_CREATED'
  constructor(message: string, options: ErrorOptions) {
    super(NotCreatedError.code, false, message, undefined, options)
  }
}

/** The project is complete, but its packages could not be installed. */
export class InstallError extends MillraceError {
  static readonly code = 'INSTALL'
  constructor(message: string) {
    super(InstallError.code, true, message)
  }
}

/** The user ended the questions. Nothing was created. */
export class InterruptedError extends MillraceError {
  static readonly code = 'INTERRUPTED'
  constructor() {
    super(InterruptedError.code, false, 'interrupted: nothing was created')
  }
}

const EXIT: Readonly<Record<string, number>> = { USAGE: 2, INTERRUPTED: 130 }

/** Returns the exit code of an error: 2 for wrong arguments, 130 for an interruption, otherwise 1. */
export const exitCodeOf = ({ code }: MillraceError): number => EXIT[code] ?? 1

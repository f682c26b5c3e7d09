/** Errors of an import from another queue. */
import { MillraceError } from '@millrace/core'

/** The other queue's store cannot be reached or read. */
export class SourceError extends MillraceError {
  static readonly code = 'SOURCE'
  constructor(message: string, options?: ErrorOptions) {
    super(SourceError.code, false, message, undefined, options)
  }
}

/** The client of the other queue's store is not installed. */
export class MissingPackageError extends MillraceError {
  static readonly code = 'MISSING_PACKAGE'
  constructor(name: string, source: string) {
    super(
      MissingPackageError.code,
      false,
      `an import from ${source} requires the package ${name}: run it in the folder of an application that has it, or npm install ${name}`,
    )
  }
}

/** A job cannot be imported as it is. It is reported, and the others are imported. */
export class UnfitError extends MillraceError {
  static readonly code = 'UNFIT'
  constructor(message: string, options?: ErrorOptions) {
    super(UnfitError.code, false, message, undefined, options)
  }
}

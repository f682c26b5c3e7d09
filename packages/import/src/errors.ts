/** Errors of an import from another queue. */
import { MillraceError } from '@millrace/core'

/** The other queue's store cannot be reached or read. */
export class SourceError extends MillraceError {
  static readonly code = 'SOURCE'
  constructor(message: string, options?: ErrorOptions) {
    super(SourceError.code, false, message, undefined, options)
  }
}

/** The store does not have the queue, or none under that namespace. */
export class NotFoundError extends MillraceError {
  static readonly code = 'NOT_FOUND'
  /** The option that names what does not exist: `namespace` or `only`. */
  declare readonly option: string
  constructor(option: 'namespace' | 'only', message: string) {
    super(NotFoundError.code, false, message, { option })
  }
}

/** A job cannot be imported as it is. It is reported, and the others are imported. */
export class UnfitError extends MillraceError {
  static readonly code = 'UNFIT'
  constructor(message: string, options?: ErrorOptions) {
    super(UnfitError.code, false, message, undefined, options)
  }
}

/** Errors of an import from another queue. */
import { define } from '@millrace/core'

/** The other queue's store cannot be reached or read. */
export class SourceError extends define('SOURCE', { category: 'disconnected' }) {
  constructor(message: string, options?: ErrorOptions) {
    super(message, undefined, options)
  }
}

/** The store does not have the queue, or none under that namespace. */
export class NotFoundError extends define('NOT_FOUND', { category: 'not-found' }) {
  /** The option that names what does not exist: `namespace` or `only`. */
  declare readonly option: string
  constructor(option: 'namespace' | 'only', message: string) {
    super(message, { option })
  }
}

/** A job cannot be imported as it is. It is reported, and the others are imported. */
export class UnfitError extends define('UNFIT') {
  constructor(message: string, options?: ErrorOptions) {
    super(message, undefined, options)
  }
}

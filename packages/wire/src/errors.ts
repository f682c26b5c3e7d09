/** The errors in what the other end sends. */
import { MillraceError, type Refusal } from '@millrace/core'

export type WireErrorCode =
  /** The four bytes of a frame's length announce more than is allowed; nothing of the frame is kept. */
  | 'FRAME_TOO_LARGE'
  /** The bytes are not a message: cut short, too deep, too long, out of range. */
  | 'BAD_FRAME'
  /** The bytes are a message, but its sender may not send it now. */
  | 'BAD_MESSAGE'
  /** The two ends have no version in common. */
  | 'VERSION_MISMATCH'

interface WireErrorDetails {
  /** True if the bytes are well-formed, but more than this end accepts. */
  readonly beyond?: boolean
  /** The requirement of the field, and its value. */
  readonly expected?: string
  /** The bound that a value broke. */
  readonly limit?: number
  /** The refusal of a check that knows more than one field. */
  readonly refusal?: Refusal
}

/** The connection cannot be used any more: send a goodbye with this code and message, and close it. */
export class WireError extends MillraceError {
  declare readonly code: WireErrorCode
  /** True if the bytes are well-formed, but more than this end accepts. */
  readonly beyond: boolean
  readonly #details: WireErrorDetails
  /** The field that is wrong, from the record that the caller reads, such as `jobs[2].backoff.delay`; empty outside of records. */
  #path = ''

  constructor(code: WireErrorCode, message: string, details: WireErrorDetails = {}) {
    super(code, false, message)
    this.beyond = details.beyond === true
    this.#details = details
  }

  /** Puts the name of a field or the place in a list in front of the path. */
  under(part: string): this {
    const joint = this.#path === '' || this.#path.startsWith('[') ? '' : '.'
    this.#path = `${part}${joint}${this.#path}`
    return this
  }

  /** The same error as the answer to a single request; undefined if it is not about a field of one. */
  refusal(): Refusal | undefined {
    const { expected, limit, refusal } = this.#details
    if (this.#path === '') return undefined
    if (refusal !== undefined) return refusal
    const verb = expected?.startsWith('is ') ? '' : 'must be '
    return {
      code: limit === undefined ? 'OPTION_TYPE' : 'OPTION_RANGE',
      message: `${this.#path} ${verb}${expected}`,
      details: { option: this.#path, ...(limit !== undefined && { limit }) },
    }
  }
}

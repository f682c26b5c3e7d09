/** What can be wrong with what the other end sends. */
import { MillraceError } from '@millrace/core'

export type WireErrorCode =
  /** The four bytes of its length announce more than is allowed, before anything of it is kept. */
  | 'FRAME_TOO_LARGE'
  /** The bytes are no message: cut short, too deep, too long, out of range. */
  | 'BAD_FRAME'
  /** A message, but not one that this end may send now. */
  | 'BAD_MESSAGE'
  /** The two ends have no version in common. */
  | 'VERSION_MISMATCH'

/** The connection is of no use any more: say goodbye with this code and message, and close it. */
export class WireError extends MillraceError {
  declare readonly code: WireErrorCode
  /** True if the bytes are well-formed, and more than this end takes. */
  readonly beyond: boolean

  constructor(code: WireErrorCode, message: string, beyond = false) {
    super(code, false, message)
    this.beyond = beyond
  }
}

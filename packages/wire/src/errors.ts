/** The errors in what the other end sends. */
import { MillraceError } from '@millrace/core'

export type WireErrorCode =
  /** The four bytes of a frame's length announce more than is allowed; nothing of the frame is kept. */
  | 'FRAME_TOO_LARGE'
  /** The bytes are not a message: cut short, too deep, too long, out of range. */
  | 'BAD_FRAME'
  /** The bytes are a message, but its sender may not send it now. */
  | 'BAD_MESSAGE'
  /** The two ends have no version in common. */
  | 'VERSION_MISMATCH'

/** The connection cannot be used any more: send a goodbye with this code and message, and close it. */
export class WireError extends MillraceError {
  declare readonly code: WireErrorCode
  /** True if the bytes are well-formed, but more than this end accepts. */
  readonly beyond: boolean

  constructor(code: WireErrorCode, message: string, beyond = false) {
    super(code, false, message)
    this.beyond = beyond
  }
}

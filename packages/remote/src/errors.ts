/** Errors that only `listen` and `connect` throw. Errors that can answer a call are in the core's catalogue. */
import { MillraceError } from '@millrace/core'

/** Another server listens at the address, or the path holds something that is not a socket. */
export class AddressInUseError extends MillraceError {
  static readonly code = 'ADDRESS_IN_USE'
  constructor(message: string, options?: ErrorOptions) {
    super(AddressInUseError.code, true, message, undefined, options)
  }
}

/** Others can reach the address, and TLS or a token is missing. */
export class InsecureBindError extends MillraceError {
  static readonly code = 'INSECURE_BIND'
  constructor(message: string) {
    super(InsecureBindError.code, false, message)
  }
}

/** No server answered within `connectTimeout`. `cause` is the error of the last attempt. */
export class ConnectFailedError extends MillraceError {
  static readonly code = 'CONNECT_FAILED'
  constructor(message: string, options?: ErrorOptions) {
    super(ConnectFailedError.code, true, message, undefined, options)
  }
}

/** Another process has the folder of the journal open. */
export class JournalInUseError extends MillraceError {
  static readonly code = 'JOURNAL_IN_USE'
  constructor(message: string) {
    super(JournalInUseError.code, true, message)
  }
}

/** The journal is full, and the engine has yet to take its jobs. Nothing of the call is stored. */
export class JournalFullError extends MillraceError {
  static readonly code = 'JOURNAL_FULL'
  constructor(message: string) {
    super(JournalFullError.code, true, message)
  }
}

/** A file of the journal does not hold what was written. None of it is forwarded. */
export class JournalDamagedError extends MillraceError {
  static readonly code = 'JOURNAL_DAMAGED'
  declare readonly file: string
  declare readonly offset: number
  constructor(message: string, details: { readonly file: string; readonly offset: number }) {
    super(JournalDamagedError.code, false, message, details)
  }
}

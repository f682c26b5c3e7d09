/** Errors that only `listen` and `connect` throw. Errors that can answer a call are in the core's catalogue. */
import { define } from '@millrace/core'

/** Another server listens at the address, or the path holds something that is not a socket. */
export class AddressInUseError extends define('ADDRESS_IN_USE', { retryable: true }) {
  constructor(message: string, options?: ErrorOptions) {
    super(message, undefined, options)
  }
}

/** Others can reach the address, and TLS or a token is missing. */
export class InsecureBindError extends define('INSECURE_BIND', { category: 'invalid' }) {}

/** No server answered within `connectTimeout`. `cause` is the error of the last attempt. */
export class ConnectFailedError extends define('CONNECT_FAILED', { category: 'disconnected', retryable: true }) {
  constructor(message: string, options?: ErrorOptions) {
    super(message, undefined, options)
  }
}

/** Another process has the folder of the journal open. */
export class JournalInUseError extends define('JOURNAL_IN_USE', { retryable: true }) {}

/** The journal is full, and the engine has yet to take its jobs. Nothing of the call is stored. */
export class JournalFullError extends define('JOURNAL_FULL', { retryable: true }) {}

/** A file of the journal does not hold what was written. None of it is forwarded. */
export class JournalDamagedError extends define('JOURNAL_DAMAGED') {
  declare readonly file: string
  declare readonly offset: number
}

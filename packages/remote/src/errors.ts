/** What only `listen` and `connect` throw. What may come as the answer to a call is in the core's catalogue. */
import { MillraceError } from '@millrace/core'

/** Another server listens at the address, or something that is no socket lies at the path. */
export class AddressInUseError extends MillraceError {
  static readonly code = 'ADDRESS_IN_USE'
  constructor(message: string, options?: ErrorOptions) {
    super(AddressInUseError.code, true, message, undefined, options)
  }
}

/** The address can be reached by others, and TLS or a token is missing. */
export class InsecureBindError extends MillraceError {
  static readonly code = 'INSECURE_BIND'
  constructor(message: string) {
    super(InsecureBindError.code, false, message)
  }
}

/** No server answered within `connectTimeout`. `cause` is why the last attempt failed. */
export class ConnectFailedError extends MillraceError {
  static readonly code = 'CONNECT_FAILED'
  constructor(message: string, options?: ErrorOptions) {
    super(ConnectFailedError.code, true, message, undefined, options)
  }
}

/** Errors that only the control database throws. */
import { MillraceError } from '@millrace/core'

/** A token with that name is in use: revoke it first, or choose another name. */
export class TokenExistsError extends MillraceError {
  static readonly code = 'TOKEN_EXISTS'
  constructor(name: string) {
    super(TokenExistsError.code, false, `there is a token '${name}': revoke it first, or choose another name`)
  }
}

/** No token that is in use has that id or name. */
export class TokenNotFoundError extends MillraceError {
  static readonly code = 'TOKEN_NOT_FOUND'
  constructor(token: string) {
    super(TokenNotFoundError.code, false, `there is no token '${token}' in use: \`millrace token list\` shows those that are`)
  }
}

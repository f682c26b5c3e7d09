/** Errors that only the control database throws. */
import { define } from '@millrace/core'

/** A token with that name is in use: revoke it first, or choose another name. */
export class TokenExistsError extends define('TOKEN_EXISTS', { category: 'conflict' }) {
  constructor(name: string) {
    super(`there is a token '${name}': revoke it first, or choose another name`)
  }
}

/** No token that is in use has that id or name. */
export class TokenNotFoundError extends define('TOKEN_NOT_FOUND', { category: 'not-found' }) {
  constructor(token: string) {
    super(`there is no token '${token}' in use: \`millrace token list\` shows those that are`)
  }
}

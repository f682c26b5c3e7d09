/** The pasted token, and the address after the log-in. */
import { ApiError } from '../../api/problem.ts'
import { TEXT } from '../../text.ts'

/** Returns the token without what copying adds: spaces, quotes, `Bearer`. */
export function cleaned(pasted: string): string {
  return pasted
    .trim()
    .replace(/^(?:authorization:\s*)?bearer\s+/i, '')
    .replace(/^(["'`])(.*)\1$/, '$2')
    .trim()
}

/**
 * Returns the address to go to: one of the page itself, and the overview for any other. Browsers leave out tabs and line ends wherever
 * they stand, so that "/", a tab and "/elsewhere.example" is another host.
 */
export function destination(next: string | undefined): string {
  return next !== undefined && /^\/(?![/\\])\P{Cc}*$/u.test(next) ? next : '/'
}

export function refusalOf(error: unknown): string {
  if (error instanceof ApiError && error.code === 'AUTH_FAILED') return TEXT.login.wrong
  return TEXT.login.failed((error as Error).message)
}

/** The exit codes of `millrace serve`: docs/daemon.md. They equal those of the command line if it has them. */
import { isErrorOf } from '@millrace/core'
import { ConfigError } from '../config/errors.ts'
import type { EndSignal } from '../host.ts'

export const EXIT = {
  /** Drained after a signal, or stopped by an admin. */
  ok: 0,
  /** The engine has failed, or an unexpected error has occurred. */
  failure: 1,
  /** The configuration is invalid. */
  usage: 2,
  /** The file or the address is in use. The same command may succeed later. */
  busy: 5,
} as const

/** The exit codes after a second signal, which does not wait: 128 plus the number of the signal. */
export const EXIT_OF_SIGNAL: Readonly<Record<EndSignal, number>> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }

export function exitCodeOf(error: unknown): number {
  if (error instanceof ConfigError) return EXIT.usage
  const { code } = error as { readonly code?: unknown }
  if (code === 'OPTION_TYPE' || code === 'OPTION_RANGE' || code === 'INSECURE_BIND') return EXIT.usage
  return isErrorOf(error, 'MillraceError') && error.retryable ? EXIT.busy : EXIT.failure
}

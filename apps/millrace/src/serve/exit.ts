/** How `millrace serve` ends, as numbers: docs/daemon.md. Those of the command line, where it has them. */
import { MillraceError } from '@millrace/core'
import { ConfigError } from '../config/errors.ts'

export const EXIT = {
  /** Drained after a signal, or stopped by an admin. */
  ok: 0,
  /** The engine has failed, or something that nobody foresaw has happened. */
  failure: 1,
  /** What it was told is not understood. */
  usage: 2,
  /** Something that it needs is in use: the file, the address. The same may succeed later. */
  busy: 5,
} as const

/** A second signal does not wait: 128 and its number. */
export const EXIT_OF_SIGNAL = { SIGINT: 130, SIGTERM: 143 } as const

export function exitCodeOf(error: unknown): number {
  if (error instanceof ConfigError) return EXIT.usage
  const { code } = error as { readonly code?: unknown }
  if (code === 'OPTION_TYPE' || code === 'OPTION_RANGE' || code === 'INSECURE_BIND') return EXIT.usage
  return error instanceof MillraceError && error.retryable ? EXIT.busy : EXIT.failure
}

/** The exit codes of the program. Scripts rely on them: they are in docs/cli.md and docs/daemon.md, and never change. */
import type { ErrorCategory } from '@millrace/core'
import type { EndSignal } from './host.ts'

export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  notFound: 3,
  /** The call is too late or conflicts with another: the job runs or has ended, a key is taken, or a queue has jobs. */
  conflict: 4,
  /** The same command may succeed later. */
  busy: 5,
  connection: 6,
  interrupted: 130,
} as const

/** The exit codes after a second signal, which does not wait: 128 plus the number of the signal. */
export const EXIT_OF_SIGNAL: Readonly<Record<EndSignal, number>> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }

/** The commands that run until a signal: it ends them with 0, also while they start. It interrupts all others. */
export const UNTIL_SIGNAL: ReadonlySet<string> = new Set(['serve', 'demo start', 'demo worker', 'worker start'])

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

const OF_CATEGORY: Readonly<Partial<Record<ErrorCategory, ExitCode>>> = {
  invalid: EXIT.usage,
  'not-found': EXIT.notFound,
  conflict: EXIT.conflict,
  disconnected: EXIT.connection,
  incompatible: EXIT.connection,
  unauthenticated: EXIT.connection,
  forbidden: EXIT.connection,
  interrupted: EXIT.interrupted,
}

/** The exit code of an error. One of another category is busy if the call is retryable, and a failure otherwise. */
export function exitCodeOf(error: unknown): ExitCode {
  const { category, retryable } = (error ?? {}) as { readonly category?: ErrorCategory; readonly retryable?: boolean }
  return (category && OF_CATEGORY[category]) ?? (retryable === true ? EXIT.busy : EXIT.failure)
}

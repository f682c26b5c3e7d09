/** Errors that a run of a command throws. */
import { define, NonRetryableError } from '@millrace/core'

/** The exit code or the signal that a process ended with. The other one is null. */
export interface Ending {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
}

/** The command ended with a code outside its `successCodes`, or by a signal, or could not be started (both are null). */
export class CommandFailedError extends define('COMMAND_FAILED', { retryable: true }) {
  declare readonly exitCode: number | null
  declare readonly signal: NodeJS.Signals | null
  constructor(message: string, { exitCode, signal }: Ending, options?: ErrorOptions) {
    super(message, { exitCode, signal }, options)
  }
}

/** The job's data cannot be passed to its command. `field` is the key of the data that is at fault, if there is one. */
export class BadArgsError extends define('BAD_ARGS') {
  declare readonly field: string | undefined
  constructor(message: string, field?: string) {
    super(message, { field })
  }
}

/** Returns the error as a handler throws it. It is not retryable, because the same data would fail again. */
export function badArgs(message: string, field?: string): NonRetryableError {
  const cause = new BadArgsError(message, field)
  // Only the name and the message of an error are stored. The code in the message distinguishes this error from others.
  return new NonRetryableError(`${cause.code}: ${message}`, { cause })
}

/** What a run of a command throws. */
import { MillraceError, NonRetryableError } from '@millrace/core'

/** How a process has ended: one of the two is null. */
export interface Ending {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
}

/** The command has ended with an exit code that is none of its `successCodes`, by a signal, or could not be started (both are null). */
export class CommandFailedError extends MillraceError {
  static readonly code = 'COMMAND_FAILED'
  declare readonly exitCode: number | null
  declare readonly signal: NodeJS.Signals | null
  constructor(message: string, { exitCode, signal }: Ending, options?: ErrorOptions) {
    super(CommandFailedError.code, true, message, { exitCode, signal }, options)
  }
}

/** The job's data cannot be handed to its command. `field` is the key of the data, where one is at fault. */
export class BadArgsError extends MillraceError {
  static readonly code = 'BAD_ARGS'
  declare readonly field: string | undefined
  constructor(message: string, field?: string) {
    super(BadArgsError.code, false, message, { field })
  }
}

/** As a handler throws it: the same data is no better the next time. */
export function badArgs(message: string, field?: string): NonRetryableError {
  const cause = new BadArgsError(message, field)
  // Of an error its name and message are stored: the code is in it so that it can be told from others.
  return new NonRetryableError(`${cause.code}: ${message}`, { cause })
}

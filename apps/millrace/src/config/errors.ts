/** Errors in the configuration of the daemon, with messages that name the place. */
import { MillraceError } from '@millrace/core'

/** The configuration cannot be used. `problems` has one line for each problem. */
export class ConfigError extends MillraceError {
  static readonly code = 'CONFIG'
  declare readonly problems: readonly string[]
  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(ConfigError.code, false, problems.join('\n'), { problems }, options)
  }
}

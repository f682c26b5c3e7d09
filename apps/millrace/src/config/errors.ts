/** What is wrong with what the daemon was told, in words that lead to the place. */
import { MillraceError } from '@millrace/core'

/** A configuration that cannot be used. `problems` has one line for each thing that is wrong with it. */
export class ConfigError extends MillraceError {
  static readonly code = 'CONFIG'
  declare readonly problems: readonly string[]
  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(ConfigError.code, false, problems.join('\n'), { problems }, options)
  }
}

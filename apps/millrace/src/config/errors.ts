/** Errors in the configuration of the daemon, with messages that name the place. */
import { define } from '@millrace/core'

/** The configuration cannot be used. `problems` has one line for each problem. */
export class ConfigError extends define('CONFIG', { category: 'invalid' }) {
  declare readonly problems: readonly string[]
  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join('\n'), { problems }, options)
  }
}

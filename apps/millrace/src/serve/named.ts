/** What only those can see who are given a part of the configuration. */
import { ValidationError } from '@millrace/core'
import { ConfigError } from '../config/errors.ts'

/** What `work` answers. @throws ConfigError with the key in place of what it says about its own options */
export async function named<Result>(key: string, work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof TypeError || cause instanceof RangeError || cause instanceof ValidationError)
      throw new ConfigError([`'${key}': ${cause.message}`], { cause })
    throw cause
  }
}

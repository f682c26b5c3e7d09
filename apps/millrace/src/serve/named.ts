/** Reports problems that only the consumer of a part of the configuration can detect. */
import { isErrorOf } from '@millrace/core'
import { ConfigError } from '../config/errors.ts'

/** Returns the result of `work`. @throws ConfigError with the key in front of the problem, if `work` rejects its options */
export async function named<Result>(key: string, work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    if (isErrorOf(cause, 'TypeError') || isErrorOf(cause, 'RangeError') || isErrorOf(cause, 'ValidationError'))
      throw new ConfigError([`'${key}': ${cause.message}`], { cause })
    throw cause
  }
}

/** The options of messages: those of `engine.send`, and those of a handler's `waitFor`. */
import type { Duration } from '../duration.ts'
import { OptionRangeError, OptionTypeError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import { describe } from './describe.ts'
import { nameOption } from './name.ts'
import { durationWithin, optionsReader } from './read.ts'
import { textOption } from './text.ts'

/** The options of `send`. */
export interface SendOptions {
  /**
   * Stores the message once, however often it is sent to the job: 1 to 512 characters. It counts for as long as the job lives, and for
   * 24 hours at least. Default none.
   */
  readonly idempotencyKey?: string
  /** The name of who sends it: 1 to 128 characters. Default: over a connection the name of its token, otherwise none. */
  readonly by?: string
  /** Sends only to a job with one of these names, 1 to 100. Default any name. */
  readonly only?: readonly string[]
}

/** The options of `waitFor`. */
export interface WaitForOptions {
  /** The time after which the wait ends without a message: 0 to 100 years, from the first time that the engine hears of it. Default none. */
  readonly timeout?: Duration
  /** The name of this wait, 1 to 512 characters, if the handler waits for a message of that name more than once. Default: that name. */
  readonly as?: string
}

/** @throws OptionTypeError, OptionRangeError */
export const validateSendOptions = optionsReader('send', {
  idempotencyKey: (option, value) => textOption(option, value),
  by: (option, value) => textOption(option, value, LIMITS.nameLength),
  only: namesOption,
})

/** @throws OptionTypeError, OptionRangeError */
export const validateWaitForOptions = optionsReader('waitFor', {
  timeout: durationWithin({}),
  as: (option, value) => textOption(option, value),
})

const NAMES_MAX = 100

function namesOption(option: string, value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw new OptionTypeError(option, `${option} must be an array of job names, got ${describe(value)}`)
  if (value.length === 0 || value.length > NAMES_MAX)
    throw new OptionRangeError(option, NAMES_MAX, `${option} must have 1 to ${NAMES_MAX} job names, got ${value.length}`)
  return value.map((name, index) => nameOption(`${option}[${index}]`, name))
}

/** The option `backoff`: the delay before a retry. */
import type { Backoff } from '../backoff.ts'
import type { Duration } from '../duration.ts'
import { OptionRangeError, OptionTypeError } from '../errors.ts'
import type { JobInfo } from '../jobInfo.ts'
import { choiceOption } from './choice.ts'
import { describe } from './describe.ts'
import { checkKnown } from './known.ts'
import { durationOption } from './milliseconds.ts'

/** @see BackoffOptions.type */
export type BackoffType = Backoff['type']

/** The delay between two attempts. */
export interface BackoffOptions {
  /** `exponential` delay·factor^(attempt−1), `linear` delay·attempt, `fixed` delay. */
  readonly type: BackoffType
  /** The delay before the first retry: 0 to 100 years. */
  readonly delay: Duration
  /** The factor of `exponential`: at least 1, default 2. */
  readonly factor?: number
  /** The cap of every delay, within which jitter spreads: 0 to 100 years. Default none. */
  readonly maxDelay?: Duration
  /** 0 to 1 spreads by ± that fraction; `'equal'`: half plus a random half; `'full'`: random. Default none. */
  readonly jitter?: number | 'equal' | 'full'
}

/**
 * A backoff as a function: returns the delay before the next attempt, by the attempt that failed (from 1), its error, and its data and
 * job as the handler got them. False: no further attempt, the job fails. Undefined: the stored default. The function runs in the worker; if the worker is lost, the stored
 * default applies. If it throws or returns anything else (a promise, a negative number), the job's log and the worker's log get a
 * warning, and the stored default applies.
 */
export type BackoffFunction = (attempt: number, error: unknown, failed: FailedAttempt) => Duration | false | undefined

/** The attempt that a backoff function is asked about. */
export interface FailedAttempt {
  readonly data: unknown
  readonly job: JobInfo
}

const KNOWN = new Set(['type', 'delay', 'factor', 'maxDelay', 'jitter'])

export function backoffOption(option: string, value: unknown): Backoff {
  if (typeof value === 'function') {
    throw new OptionTypeError(
      option,
      `${option} is an object here: only a definition (defineJob) takes a function, which runs in the worker`,
    )
  }
  checkKnown(option, value, KNOWN, "{ type: 'exponential', delay: '1s' }")
  const type = choiceOption(`${option}.type`, value['type'], ['exponential', 'linear', 'fixed'])
  const delay = durationOption(`${option}.delay`, value['delay'])
  const factor = factorOption(`${option}.factor`, value['factor'], type)
  const maxDelay = value['maxDelay'] === undefined ? undefined : durationOption(`${option}.maxDelay`, value['maxDelay'])
  const jitter = jitterOption(`${option}.jitter`, value['jitter'])
  return {
    type,
    delay,
    ...(factor !== undefined && { factor }),
    ...(maxDelay !== undefined && { maxDelay }),
    ...(jitter !== undefined && { jitter }),
  }
}

function factorOption(option: string, value: unknown, type: BackoffType): number | undefined {
  if (value === undefined) return undefined
  if (type !== 'exponential') throw new OptionTypeError(option, `${option} belongs to type 'exponential', not to '${type}'`)
  if (typeof value !== 'number' || Number.isNaN(value))
    throw new OptionTypeError(option, `${option} must be a number, got ${describe(value)}`)
  if (value < 1 || value > FACTOR_MAX)
    throw new OptionRangeError(option, value < 1 ? 1 : FACTOR_MAX, `${option} must be between 1 and ${FACTOR_MAX}, got ${value}`)
  return value
}

const FACTOR_MAX = 1_000

function jitterOption(option: string, value: unknown): number | 'equal' | 'full' | undefined {
  if (value === undefined || value === 'equal' || value === 'full') return value
  if (typeof value !== 'number' || Number.isNaN(value)) {
    throw new OptionTypeError(option, `${option} must be a fraction between 0 and 1, 'equal' or 'full', got ${describe(value)}`)
  }
  if (value < 0 || value > 1)
    throw new OptionRangeError(option, value < 0 ? 0 : 1, `${option} must be a fraction between 0 and 1, got ${value}`)
  return value
}

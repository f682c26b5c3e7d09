/** The options of a handle's `result`. */
import type { Duration } from '../duration.ts'
import { OptionTypeError } from '../errors.ts'
import { describe } from './describe.ts'
import { durationWithin, optionsReader } from './read.ts'

/** An AbortSignal, as far as it matters here: core knows no platform. */
export interface StopSignal {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** The options of `handle.result`. */
export interface ResultOptions {
  /** Rejects with ResultTimeoutError after this time; the job continues. 0 to 100 years, or Infinity; default Infinity. */
  readonly timeout?: Duration
  /** Rejects with its reason when it aborts; the job continues. Default none. */
  readonly signal?: StopSignal
}

export interface ResultSettings {
  readonly timeoutMs: number
  readonly signal: StopSignal | undefined
}

const read = optionsReader('result', { timeout: durationWithin({ infinity: true }), signal: signalOption })

/** @throws OptionTypeError, OptionRangeError */
export function validateResultOptions(options: unknown = {}): ResultSettings {
  const { timeout: timeoutMs = Number.POSITIVE_INFINITY, signal } = read(options)
  return { timeoutMs, signal }
}

export function signalOption(option: string, signal: unknown): StopSignal {
  const { aborted, addEventListener } = (signal ?? {}) as Partial<StopSignal>
  if (typeof aborted !== 'boolean' || typeof addEventListener !== 'function') {
    throw new OptionTypeError(option, `${option} must be an AbortSignal, got ${describe(signal)}`)
  }
  return signal as StopSignal
}

/** The options of a handle's `result`. */
import type { Duration } from '../duration.ts'
import { OptionTypeError } from '../errors.ts'
import { describe } from './describe.ts'
import { checkKnown } from './known.ts'
import { durationOption } from './milliseconds.ts'

/** An AbortSignal, as far as it matters here: core knows no platform. */
export interface StopSignal {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

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

const KNOWN = new Set(['timeout', 'signal'])

export function validateResultOptions(options: unknown = {}): ResultSettings {
  checkKnown('result', options, KNOWN)
  const { timeout, signal } = options
  return {
    timeoutMs: timeout === undefined ? Number.POSITIVE_INFINITY : durationOption('timeout', timeout, { infinity: true }),
    signal: signal === undefined ? undefined : signalOption(signal),
  }
}

export function signalOption(signal: unknown): StopSignal {
  const { aborted, addEventListener } = (signal ?? {}) as Partial<StopSignal>
  if (typeof aborted !== 'boolean' || typeof addEventListener !== 'function') {
    throw new OptionTypeError('signal', `signal must be an AbortSignal, got ${describe(signal)}`)
  }
  return signal as StopSignal
}

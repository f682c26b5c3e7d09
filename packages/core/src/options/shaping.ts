/** Calls that come too often: the options `debounce` and `throttle` of one enqueue. */
import type { NewJob } from '../commands.ts'
import type { Duration } from '../duration.ts'
import { OptionRangeError, OptionTypeError } from '../errors.ts'
import { choiceOption } from './choice.ts'
import { checkKnown } from './known.ts'
import { durationOption } from './milliseconds.ts'
import { textOption } from './text.ts'

/** Merges calls in quick succession into one job. */
export interface DebounceOptions {
  /** Calls of one key and one job name are held against each other. 1 to 512 characters. */
  readonly key: string
  /** The quiet time: 1 ms or more. */
  readonly delay: Duration
  /**
   * `trailing` (default): one job, when it has been quiet for `delay`, with the data of the last call. `leading`: one job at once, with
   * the data of the first; the calls after it create none until it has been quiet for `delay`.
   */
  readonly mode?: DebounceMode
  /**
   * Counted from the first call: then the job comes (`trailing`), or the next call creates one (`leading`). At least 1 ms, and at
   * least `delay`. Default: no end.
   */
  readonly maxDelay?: Duration
}

export type DebounceMode = (typeof DEBOUNCE_MODES)[number]

export const DEBOUNCE_MODES = ['trailing', 'leading'] as const

/** Creates at most one job per period. */
export interface ThrottleOptions {
  /** Calls of one key and one job name are held against each other. 1 to 512 characters. */
  readonly key: string
  /** One job per period, which begins with the call that creates it: the calls within are answered with that job. 1 ms or more. */
  readonly period: Duration
}

const DEBOUNCE_KNOWN = new Set(['key', 'delay', 'mode', 'maxDelay'])
const THROTTLE_KNOWN = new Set(['key', 'period'])

/** Options that contradict each other. */
const EXCLUDED = {
  debounce: ['throttle', 'idempotencyKey', 'unique', 'delay', 'runAt'],
  throttle: ['idempotencyKey', 'unique'],
} as const

/** @throws OptionTypeError, OptionRangeError */
export function readShaping(options: Readonly<Record<string, unknown>>): Pick<NewJob, 'debounce' | 'throttle'> {
  for (const option of ['debounce', 'throttle'] as const) {
    if (options[option] === undefined) continue
    const conflict = exclusion(option, options)
    if (conflict !== undefined) throw conflict
  }
  const { debounce, throttle } = options
  return {
    ...(debounce !== undefined && { debounce: debounceOption(debounce) }),
    ...(throttle !== undefined && { throttle: throttleOption(throttle) }),
  }
}

function debounceOption(value: unknown): NonNullable<NewJob['debounce']> {
  checkKnown('debounce', value, DEBOUNCE_KNOWN)
  const key = textOption('debounce.key', value['key'])
  const delay = durationOption('debounce.delay', value['delay'], { min: 1 })
  const mode = choiceOption('debounce.mode', value['mode'] ?? 'trailing', DEBOUNCE_MODES)
  if (value['maxDelay'] === undefined) return { key, delay, mode }
  const maxDelay = durationOption('debounce.maxDelay', value['maxDelay'], { min: 1 })
  const debounce = { key, delay, mode, maxDelay }
  const conflict = shortDelay(debounce)
  if (conflict !== undefined) throw conflict
  return debounce
}

function throttleOption(value: unknown): NonNullable<NewJob['throttle']> {
  checkKnown('throttle', value, THROTTLE_KNOWN)
  return { key: textOption('throttle.key', value['key']), period: durationOption('throttle.period', value['period'], { min: 1 }) }
}

/** Returns the error of options that contradict each other, in a job that was read; undefined if there is none. */
export function shapingConflict(job: NewJob): OptionTypeError | OptionRangeError | undefined {
  for (const option of ['debounce', 'throttle'] as const) {
    const conflict = job[option] === undefined ? undefined : exclusion(option, job)
    if (conflict !== undefined) return conflict
  }
  return job.debounce === undefined ? undefined : shortDelay(job.debounce)
}

function exclusion(option: keyof typeof EXCLUDED, options: object): OptionTypeError | undefined {
  const other = EXCLUDED[option].find((name) => (options as Record<string, unknown>)[name] !== undefined)
  return other === undefined ? undefined : new OptionTypeError(other, `${option} and ${other} exclude each other: give one of them`)
}

function shortDelay({ delay, maxDelay = delay }: NonNullable<NewJob['debounce']>): OptionRangeError | undefined {
  if (maxDelay >= delay) return undefined
  const message = `debounce.maxDelay (${maxDelay} ms) must be at least debounce.delay (${delay} ms): raise one or lower the other`
  return new OptionRangeError('debounce.maxDelay', delay, message)
}

/** The options of `work` and of a worker's `stop`. */
import type { Duration } from '../duration.ts'
import { OptionRangeError, OptionTypeError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import { choiceOption } from './choice.ts'
import { describe } from './describe.ts'
import { durationOption } from './milliseconds.ts'
import { nameOption } from './name.ts'
import { queuePatternOption } from './queuePattern.ts'
import { durationWithin, integerBetween, optionsReader } from './read.ts'
import { type Redact, redactOption } from './redact.ts'

/** The orders in which a worker serves its queues. */
export const QUEUE_ORDERS = ['fair', 'strict'] as const
export type QueueOrder = (typeof QUEUE_ORDERS)[number]

/** The options of `work`. */
export interface WorkOptions {
  /** The worker's public name. `work` with the id of a running worker drains and replaces that one. Default: made up. */
  readonly id?: string
  /**
   * Serve these queues only; default every queue. A name that ends with an asterisk is a prefix: 'mail-*' serves every queue whose name begins
   * with 'mail-', also those that come later, and '*' serves every queue.
   */
  readonly queues?: readonly string[]
  /**
   * 'strict': a job of a queue starts in this worker only if no earlier queue of `queues` has a job in line that could start. A later queue
   * may starve. 'fair' (default): queues take turns.
   */
  readonly order?: QueueOrder
  /** Below so much running weight it is topped up to `maxConcurrency`; 1 to 100,000, default `maxConcurrency`. */
  readonly minConcurrency?: number
  /**
   * Weight that runs at a time: 1 to 100,000, default 16. A job that is heavier runs alone. A pool of threads has room for its `threads`,
   * up to this number, beside it.
   */
  readonly maxConcurrency?: number
  /** Short for `minConcurrency` and `maxConcurrency` of the same number: 1 to 100,000, default 16. */
  readonly concurrency?: number
  /** How long an aborted handler may take to settle: 0 to 100 years, default 30 s. */
  readonly abortGrace?: Duration
  /** Maps what this worker says of its runs, in place of the engine's `redact`. Default: the engine's. */
  readonly redact?: Redact
}

export interface WorkSettings {
  readonly id: string | undefined
  readonly queues: readonly string[] | undefined
  readonly order: QueueOrder
  readonly minConcurrency: number
  readonly maxConcurrency: number
  readonly abortGraceMs: number
  readonly redact?: Redact
}

const concurrencyNumber = integerBetween(1, LIMITS.concurrency)
const read = optionsReader('work', {
  id: nameOption,
  queues: queueNames,
  order: (option, value) => choiceOption(option, value, QUEUE_ORDERS),
  minConcurrency: concurrencyNumber,
  maxConcurrency: concurrencyNumber,
  concurrency: concurrencyNumber,
  abortGrace: durationOption,
  redact: redactOption,
})
/** @throws OptionTypeError, OptionRangeError */
export function validateConcurrency(value: unknown): Pick<WorkSettings, 'minConcurrency' | 'maxConcurrency'> {
  return concurrencyOf({ concurrency: concurrencyNumber('concurrency', value) })
}

const CONCURRENCY = 16
const ABORT_GRACE_MS = 30_000

/** @throws OptionTypeError, OptionRangeError */
export function validateWorkOptions(options: unknown = {}): WorkSettings {
  const { id, queues, order = 'fair', abortGrace: abortGraceMs = ABORT_GRACE_MS, redact, ...numbers } = read(options)
  if (order === 'strict' && queues === undefined)
    throw new OptionTypeError('order', "order 'strict' is the order of queues: name them in queues, the most urgent first")
  return { id, queues, order, ...concurrencyOf(numbers), abortGraceMs, ...(redact && { redact }) }
}

function queueNames(_option: string, queues: unknown): readonly string[] {
  if (!Array.isArray(queues)) throw new OptionTypeError('queues', `queues must be an array of names, got ${describe(queues)}`)
  if (queues.length === 0) throw new OptionRangeError('queues', 1, 'queues names at least 1 queue; leave it out to serve every queue')
  return [...new Set(queues.map((queue, index) => queuePatternOption(`queues[${index}]`, queue)))]
}

interface Numbers {
  readonly concurrency?: number
  readonly minConcurrency?: number
  readonly maxConcurrency?: number
}

function concurrencyOf({ concurrency, minConcurrency, maxConcurrency }: Numbers): Required<Omit<Numbers, 'concurrency'>> {
  if (concurrency !== undefined) {
    if (minConcurrency !== undefined || maxConcurrency !== undefined) {
      throw new OptionTypeError('concurrency', 'concurrency sets minConcurrency and maxConcurrency both: give it alone')
    }
    return { minConcurrency: concurrency, maxConcurrency: concurrency }
  }
  const max = maxConcurrency ?? Math.max(CONCURRENCY, minConcurrency ?? 0)
  const min = minConcurrency ?? max
  if (min <= max) return { minConcurrency: min, maxConcurrency: max }
  throw new OptionRangeError(
    'minConcurrency',
    max,
    `minConcurrency (${min}) must be at most maxConcurrency (${max}): lower one or raise the other`,
  )
}

/** The options of `stop`, of an engine and of a worker. */
export interface StopOptions {
  /** How long running jobs may take to finish before their signals abort: 0 to 100 years, or Infinity; default 30 s. */
  readonly timeout?: Duration
}

const readStop = optionsReader('stop', { timeout: durationWithin({ infinity: true }) })
const STOP_TIMEOUT_MS = 30_000

/** Milliseconds; Infinity waits for as long as it takes. */
export function validateStopOptions(options: unknown = {}): number {
  return readStop(options).timeout ?? STOP_TIMEOUT_MS
}

/** The options of `work` and of a worker's `stop`. */
import type { Duration } from '../duration.ts'
import { OptionRangeError, OptionTypeError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import { describe } from './describe.ts'
import { integerOption } from './integer.ts'
import { checkKnown } from './known.ts'
import { durationOption } from './milliseconds.ts'
import { nameOption } from './name.ts'
import { type Redact, redactOption } from './redact.ts'

export interface WorkOptions {
  /** The worker's public name. `work` with the id of a running worker drains and replaces that one. Default: made up. */
  readonly id?: string
  /** Serve these queues only; default every queue. */
  readonly queues?: readonly string[]
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
  readonly minConcurrency: number
  readonly maxConcurrency: number
  readonly abortGraceMs: number
  readonly redact?: Redact
}

const KNOWN = new Set(['id', 'queues', 'minConcurrency', 'maxConcurrency', 'concurrency', 'abortGrace', 'redact'])
const CONCURRENCY = 16
const ABORT_GRACE_MS = 30_000

/** @throws OptionTypeError, OptionRangeError */
export function validateWorkOptions(options: unknown = {}): WorkSettings {
  checkKnown('work', options, KNOWN)
  const { id, queues, abortGrace, redact } = options
  return {
    id: id === undefined ? undefined : nameOption('id', id),
    queues: queues === undefined ? undefined : queueNames(queues),
    ...concurrencyOf(options),
    abortGraceMs: abortGrace === undefined ? ABORT_GRACE_MS : durationOption('abortGrace', abortGrace),
    ...(redact !== undefined && { redact: redactOption('redact', redact) }),
  }
}

function queueNames(queues: unknown): readonly string[] {
  if (!Array.isArray(queues)) throw new OptionTypeError('queues', `queues must be an array of names, got ${describe(queues)}`)
  if (queues.length === 0) throw new OptionRangeError('queues', 1, 'queues names at least 1 queue; leave it out to serve every queue')
  return [...new Set(queues.map((queue, index) => nameOption(`queues[${index}]`, queue)))]
}

function concurrencyOf({ concurrency, minConcurrency, maxConcurrency }: Readonly<Record<string, unknown>>) {
  if (concurrency !== undefined) {
    if (minConcurrency !== undefined || maxConcurrency !== undefined) {
      throw new OptionTypeError('concurrency', 'concurrency sets minConcurrency and maxConcurrency both: give it alone')
    }
    const both = integerOption('concurrency', concurrency, 1, LIMITS.concurrency)
    return { minConcurrency: both, maxConcurrency: both }
  }
  const min = minConcurrency === undefined ? undefined : integerOption('minConcurrency', minConcurrency, 1, LIMITS.concurrency)
  const max =
    maxConcurrency === undefined ? Math.max(CONCURRENCY, min ?? 0) : integerOption('maxConcurrency', maxConcurrency, 1, LIMITS.concurrency)
  if (min !== undefined && min > max) {
    throw new OptionRangeError(
      'minConcurrency',
      max,
      `minConcurrency (${min}) must be at most maxConcurrency (${max}): lower one or raise the other`,
    )
  }
  return { minConcurrency: min ?? max, maxConcurrency: max }
}

export interface StopOptions {
  /** How long running jobs may take to finish before their signals abort: 0 to 100 years, or Infinity; default 30 s. */
  readonly timeout?: Duration
}

const STOP_KNOWN = new Set(['timeout'])
const STOP_TIMEOUT_MS = 30_000

/** Milliseconds; Infinity waits for as long as it takes. */
export function validateStopOptions(options: unknown = {}): number {
  checkKnown('stop', options, STOP_KNOWN)
  return options['timeout'] === undefined ? STOP_TIMEOUT_MS : durationOption('timeout', options['timeout'], { infinity: true })
}

/** The options of a handler that runs on a thread pool. */
import { OptionTypeError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import { describe } from './describe.ts'
import { integerBetween, optionsReader } from './read.ts'

/** Limits of Node's worker threads, in MiB. */
export interface ThreadLimits {
  /** The heap of a thread in MiB: 16 to 1,048,576. Default: that of Node. */
  readonly maxOldGenerationSizeMb?: number
  /** The heap for young objects in MiB: 1 to 1,048,576. Default: that of Node. */
  readonly maxYoungGenerationSizeMb?: number
  /** The memory for generated code in MiB: 1 to 1,048,576. Default: that of Node. */
  readonly codeRangeSizeMb?: number
  /** The stack of a thread in MiB: 1 to 1,048,576. Default: that of Node. */
  readonly stackSizeMb?: number
}

/** The options of a handler that runs on a pool of threads. */
export interface ThreadOptions {
  /** Threads of the pool, each running one job at a time. A worker takes no more jobs for the pool than that. 1 to 128, default 2. */
  readonly threads?: number
  /**
   * Further jobs that a worker takes and keeps until a thread is free; 0 to 100,000, default 0. It saves a round trip between two short
   * jobs. The timeout of a job runs while it waits.
   */
  readonly prefetch?: number
  /** A thread that passes one dies, and its job fails (retryable). Default: those of Node. */
  readonly resourceLimits?: ThreadLimits
  /** Flags of Node for the threads, such as `--expose-gc`. Default: those of this process. */
  readonly execArgv?: readonly string[]
  /** `process.env` of the threads; default a copy of this process's. */
  readonly env?: Readonly<Record<string, string>>
}

export interface ThreadSettings extends Omit<ThreadOptions, 'threads' | 'prefetch'> {
  readonly threads: number
  readonly prefetch: number
}

const THREADS = 2
/** The maximum number of places of a pool. */
export const PLACES_MAX = 128
export const MIB_MAX = 1_048_576
/** The least memory: with less, a thread dies before it runs anything; with very little, V8 ends the whole process. */
export const HEAP_MIB_MIN = 16

const memory = integerBetween(1, MIB_MAX)
const limits = {
  maxOldGenerationSizeMb: integerBetween(HEAP_MIB_MIN, MIB_MAX),
  maxYoungGenerationSizeMb: memory,
  codeRangeSizeMb: memory,
  stackSizeMb: memory,
}
const readLimits = optionsReader('resourceLimits', limits, { within: 'resourceLimits.' })
const read = optionsReader('thread', {
  threads: integerBetween(1, PLACES_MAX),
  prefetch: integerBetween(0, LIMITS.concurrency),
  resourceLimits: (_option, value): ThreadLimits => readLimits(value),
  execArgv: textsOption,
  env: envOption,
})

/** @throws OptionTypeError, OptionRangeError */
export function validateThreadOptions(options: unknown = {}): ThreadSettings {
  return { threads: THREADS, prefetch: 0, ...read(options) }
}

export function textsOption(option: string, value: unknown): readonly string[] {
  if (Array.isArray(value) && value.every((text) => typeof text === 'string')) return value
  throw new OptionTypeError(option, `${option} must be an array of strings, got ${describe(value)}`)
}

export function envOption(_option: string, value: unknown): Readonly<Record<string, string>> {
  const plain = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (plain && Object.values(value).every((text) => typeof text === 'string')) return value as Record<string, string>
  throw new OptionTypeError('env', `env must be an object of strings, got ${describe(value)}`)
}

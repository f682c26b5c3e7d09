/** The options of a handler that runs in child processes. */
import { LIMITS } from '../limits.ts'
import { integerBetween, optionsReader } from './read.ts'
import { envOption, HEAP_MIB_MIN, MIB_MAX, PLACES_MAX, textsOption } from './thread.ts'

/** The options of a handler that runs in child processes. */
export interface ProcessOptions {
  /** Processes of the pool, each running one job at a time. A worker takes no more jobs for the pool than that. 1 to 128, default 2. */
  readonly processes?: number
  /**
   * Further jobs that a worker takes and keeps until a process is free; 0 to 100,000, default 0. It saves a round trip between two short
   * jobs. The timeout of a job runs while it waits.
   */
  readonly prefetch?: number
  /**
   * The heap of a process in MiB (`--max-old-space-size`): 16 to 1,048,576. A process that needs more dies, and its job fails (retryable).
   * Buffers are not part of the heap. Default: that of Node.
   */
  readonly memoryLimit?: number
  /** Flags of Node for the processes, such as `--expose-gc`. Default: those of this process. */
  readonly execArgv?: readonly string[]
  /** The environment of the processes; default that of this process. */
  readonly env?: Readonly<Record<string, string>>
}

export interface ProcessSettings extends Omit<ProcessOptions, 'processes' | 'prefetch'> {
  readonly processes: number
  readonly prefetch: number
}

const PROCESSES = 2

const read = optionsReader('childProcess', {
  processes: integerBetween(1, PLACES_MAX),
  prefetch: integerBetween(0, LIMITS.concurrency),
  memoryLimit: integerBetween(HEAP_MIB_MIN, MIB_MAX),
  execArgv: textsOption,
  env: envOption,
})

/** @throws OptionTypeError, OptionRangeError */
export function validateProcessOptions(options: unknown = {}): ProcessSettings {
  return { processes: PROCESSES, prefetch: 0, ...read(options) }
}

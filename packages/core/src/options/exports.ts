/** The options of `exports.read`. */
import { LIMITS } from '../limits.ts'
import { integerBetween, optionsReader } from './read.ts'
import { type StopSignal, signalOption } from './result.ts'

/** The options of `exports.read`. */
export interface ExportOptions {
  /** Jobs of one batch at the most: 1 to 200, default 100. */
  readonly limit?: number
  /** Ends the iteration with its reason when it aborts. Default none. */
  readonly signal?: StopSignal
}

export interface ExportSettings {
  readonly limit: number
  readonly signal: StopSignal | undefined
}

const read = optionsReader('exports.read', { limit: integerBetween(1, LIMITS.pageJobs), signal: signalOption })
const BATCH_JOBS = 100

/** @throws OptionTypeError, OptionRangeError */
export function validateExportOptions(options: unknown = {}): ExportSettings {
  return { limit: BATCH_JOBS, signal: undefined, ...read(options) }
}

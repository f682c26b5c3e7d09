/** The options of `exports.read`. */
import { LIMITS } from '../limits.ts'
import { integerOption } from './integer.ts'
import { checkKnown } from './known.ts'
import { type StopSignal, signalOption } from './result.ts'

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

const KNOWN = new Set(['limit', 'signal'])
const BATCH_JOBS = 100

export function validateExportOptions(options: unknown = {}): ExportSettings {
  checkKnown('exports.read', options, KNOWN)
  const { limit = BATCH_JOBS, signal } = options
  return {
    limit: integerOption('limit', limit, 1, LIMITS.pageJobs),
    signal: signal === undefined ? undefined : signalOption(signal),
  }
}

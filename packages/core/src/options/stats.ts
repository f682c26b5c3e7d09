/** The options of `stats`: how much the answer has of each job name. */
import { DEFINITION_DETAILS, type DefinitionDetail, NAME_DETAILS, type NameDetail, type StatsCommand } from '../observeCommands.ts'
import { choiceOf, optionsReader } from './read.ts'

/** The options of `stats`. */
export interface StatsOptions {
  /**
   * The detail of `names`: `'histograms'` (and percentiles), `'percentiles'` alone, or `'none'`, which leaves it empty. A name takes about
   * 260 bytes, or 170. Default `'histograms'`.
   */
  readonly names?: NameDetail
  /** The `definitions` that are returned: `'all'`, or only `'disputed'` ones. Default `'all'`. */
  readonly definitions?: DefinitionDetail
}

const read = optionsReader('stats', { names: choiceOf(NAME_DETAILS), definitions: choiceOf(DEFINITION_DETAILS) })

/** @throws OptionTypeError */
export function validateStatsOptions(options: unknown = {}): StatsCommand {
  return { op: 'stats', ...read(options) }
}

/** The options of `stats`: how much the answer has of each job name. */
import { DEFINITION_DETAILS, type DefinitionDetail, NAME_DETAILS, type NameDetail, type StatsCommand } from '../observeCommands.ts'
import { choiceOption } from './choice.ts'
import { checkKnown } from './known.ts'

export interface StatsOptions {
  /**
   * The detail of `names`: `'histograms'` (and percentiles), `'percentiles'` alone, or `'none'`, which leaves it empty. A name takes about
   * 260 bytes, or 170. Default `'histograms'`.
   */
  readonly names?: NameDetail
  /** The `definitions` that are returned: `'all'`, or only `'disputed'` ones. Default `'all'`. */
  readonly definitions?: DefinitionDetail
}

const KNOWN = new Set(['names', 'definitions'])

/** @throws OptionTypeError */
export function validateStatsOptions(options: unknown = {}): StatsCommand {
  checkKnown('stats', options, KNOWN)
  const { names, definitions } = options
  return {
    op: 'stats',
    ...(names !== undefined && { names: choiceOption('names', names, NAME_DETAILS) }),
    ...(definitions !== undefined && { definitions: choiceOption('definitions', definitions, DEFINITION_DETAILS) }),
  }
}

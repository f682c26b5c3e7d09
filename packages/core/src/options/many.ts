/** The filter and the options of `cancelMany`, `updateMany` and the other bulk calls. */
import { OptionTypeError } from '../errors.ts'
import { type JobKey, parseId } from '../id.ts'
import { booleanOption } from './choice.ts'
import { describe } from './describe.ts'
import { FILTER_OPTIONS, isOfLastRun, type JobFilter, type ListFilter, readFilter } from './filter.ts'
import { integerOption } from './integer.ts'
import { checkKnown } from './known.ts'
import { textOption } from './text.ts'

/** A job is meant where all that is given holds. At least one is given, or `all: true` alone. */
export interface ManyFilter extends JobFilter {
  /** Only jobs that contain this string, as of `list`. Not with `ids`. */
  readonly search?: string
  /** Only these jobs. Not with `search`, `data`, `worker`, `error` and `fingerprint`. */
  readonly ids?: readonly string[]
  /** Every job there is. */
  readonly all?: true
}

/** The options of `cancelMany`, `updateMany` and the other bulk calls. */
export interface ManyOptions {
  /** At most so many jobs change; default all of them. */
  readonly limit?: number
  /** Counts what would change, and changes nothing; default false. */
  readonly dryRun?: boolean
}

export interface ManySettings {
  readonly filter: ListFilter
  readonly search: string | undefined
  readonly ids: readonly JobKey[] | undefined
  /** The `ids` that belong to no job. */
  readonly unknown: number
  readonly limit: number
  readonly dryRun: boolean
}

const FILTERS = new Set<string>([...FILTER_OPTIONS, 'search', 'ids', 'all'])
const OPTIONS = new Set(['limit', 'dryRun'])

/** @throws OptionTypeError, OptionRangeError; an empty filter is refused, so that nothing meant for some reaches all */
export function validateMany(call: string, wanted: unknown, options: unknown = {}): ManySettings {
  checkKnown(`the filter of ${call}`, wanted, FILTERS)
  checkKnown(call, options, OPTIONS)
  const { search, ids, all } = wanted
  const given = Object.keys(wanted).filter((key) => key !== 'all' && wanted[key] !== undefined)
  if (all !== undefined && all !== true) throw new OptionTypeError('all', `all must be true, or not given, got ${describe(all)}`)
  if (all === undefined && given.length === 0) {
    const message = `${call} with an empty filter would mean every job: give state, queue, name, tag, ids or another condition, or { all: true } if you want all`
    throw new OptionTypeError('filter', message)
  }
  if (all === true && given.length > 0) {
    throw new OptionTypeError('all', `all means every job, and ${given.join(', ')} only some: give one or the other`)
  }
  const filter = readFilter(wanted)
  if (ids !== undefined && (search !== undefined || filter.data !== undefined || isOfLastRun(filter))) {
    const message = 'ids cannot be combined with search, data, worker, error and fingerprint: give one or the other'
    throw new OptionTypeError('ids', message)
  }
  const { limit, dryRun = false } = options
  const keys = ids === undefined ? undefined : idsOption(ids)
  return {
    filter,
    search: search === undefined ? undefined : textOption('search', search),
    ids: keys?.filter((key) => key !== undefined),
    unknown: keys?.filter((key) => key === undefined).length ?? 0,
    limit: limit === undefined ? Number.POSITIVE_INFINITY : integerOption('limit', limit, 1, Number.MAX_SAFE_INTEGER),
    dryRun: booleanOption('dryRun', dryRun),
  }
}

/** Equal ones count once. What is no id at all is no job's, as for `get`. */
function idsOption(ids: unknown): (JobKey | undefined)[] {
  if (!Array.isArray(ids)) throw new OptionTypeError('ids', `ids must be an array of job ids, got ${describe(ids)}`)
  for (const [index, id] of ids.entries()) {
    if (typeof id !== 'string') throw new OptionTypeError(`ids[${index}]`, `ids[${index}] must be the id of a job, got ${describe(id)}`)
  }
  return [...new Set(ids as string[])].map((id) => parseId(id))
}

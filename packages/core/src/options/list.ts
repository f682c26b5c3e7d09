/** The options of `list`. */
import type { ListCommand } from '../commands.ts'
import { OptionTypeError } from '../errors.ts'
import { SEQ_LIMIT } from '../id.ts'
import { STATES } from '../lifecycle.ts'
import { LIMITS } from '../limits.ts'
import { booleanOption, choiceOption } from './choice.ts'
import { describe } from './describe.ts'
import { FILTER_OPTIONS, type JobFilter, type ListFilter, readFilter } from './filter.ts'
import { integerOption } from './integer.ts'
import { checkKnown } from './known.ts'
import { LIST_ORDERS, type ListOrder, orderConflict, timeOrderOf } from './order.ts'
import { type PayloadMode, payloadOption } from './payload.ts'
import { textOption } from './text.ts'

/** The options of `list`. */
export interface ListOptions extends JobFilter {
  /**
   * A string that the jobs contain, in the name, tags, keys, texts of the caller, or data: 1 to 512 characters, ASCII letters whatever their
   * case. Default none. It looks at one job after the other, newest first, and a page stops at a number of jobs or a time: see `partial`.
   */
  readonly search?: string
  /**
   * `'newest'` (default): by arrival, newest first. `'oldest'`: by arrival, oldest first. `'finished'`: last finished first; needs a final `state`. `'due'`: soonest first;
   * needs the `state` `'scheduled'`. A job that gets another time between two pages has another place.
   */
  readonly order?: ListOrder
  /** The share of data, output and checkpoint that is read: all ('full'), the first 512 bytes of each ('preview'), nothing ('none'). Default 'full'. */
  readonly payload?: PayloadMode
  /** Each job with `lastRun`: the worker, the times and the error of its last run. Default false. */
  readonly lastRun?: boolean
  /** `next` of the page before. Default: the first page. */
  readonly after?: string
  /** Jobs in the page: 1 to 200, default 50. */
  readonly limit?: number
}

export interface ListSettings {
  readonly filter: ListFilter
  readonly limit: number
  readonly search: string | undefined
  readonly order: ListOrder
  /** The place behind which the page begins. */
  readonly place: ListPlace
  readonly payload: PayloadMode
  readonly lastRun: boolean
}

/** A place in a list, as commands name it. */
export type ListPlace = Pick<ListCommand, 'before' | 'beforeAt'>

/** Jobs in a page whose size nobody has named. */
export const PAGE_JOBS = 50

const KNOWN = new Set<string>([...FILTER_OPTIONS, 'search', 'order', 'payload', 'lastRun', 'after', 'limit'])

/** @throws OptionTypeError, OptionRangeError */
export function validateListOptions(options: unknown = {}): ListSettings {
  checkKnown('list', options, KNOWN)
  const { search, payload, lastRun = false, after, limit = PAGE_JOBS } = options
  const filter = readFilter(options)
  const order = orderOption(options.order, filter)
  return {
    filter,
    order,
    limit: integerOption('limit', limit, 1, LIMITS.pageJobs),
    place: after === undefined ? {} : parseCursor(after, order),
    search: search === undefined ? undefined : textOption('search', search),
    payload: payloadOption(payload),
    lastRun: booleanOption('lastRun', lastRun),
  }
}

function orderOption(value: unknown, { state, states }: ListFilter): ListOrder {
  const order = value === undefined ? 'newest' : choiceOption('order', value, LIST_ORDERS)
  const needed = orderConflict(timeOrderOf(order), state)
  if (needed === undefined) return order
  const got = states !== undefined ? 'several states' : state === undefined ? 'no state' : `'${STATES[state]}'`
  throw new OptionTypeError('order', `order '${order}' needs ${needed}, got ${got}: set state, or leave the order out`)
}

/** Opaque to callers: the place behind which the next page begins. */
export function formatCursor(seq: number, order: ListOrder = 'newest', at = 0): string {
  const row = seq.toString(36)
  return timeOrderOf(order) === undefined ? `${order === 'newest' ? 'p' : 'o'}${row}` : `${order[0]}${at.toString(36)}.${row}`
}

const NUMBER = '(-?[0-9a-z]{1,11})'
const CURSORS = {
  newest: new RegExp(`^p()${NUMBER}$`),
  oldest: new RegExp(`^o()${NUMBER}$`),
  finished: new RegExp(`^f${NUMBER}\\.${NUMBER}$`),
  due: new RegExp(`^d${NUMBER}\\.${NUMBER}$`),
} as const

export function parseCursor(after: unknown, order: ListOrder): ListPlace {
  const [, time = '', row = ''] = (typeof after === 'string' && CURSORS[order].exec(after)) || []
  const [beforeAt, before] = [Number.parseInt(time, 36), Number.parseInt(row, 36)]
  const isByTime = timeOrderOf(order) !== undefined
  if (!(before >= 0 && before <= SEQ_LIMIT) || (isByTime && !Number.isSafeInteger(beforeAt)))
    throw new OptionTypeError('after', `after must be the 'next' of an earlier page in the same order, got ${describe(after)}`)
  return isByTime ? { before, beforeAt } : { before }
}

/** The options of `history` and of `failures`. */
import { OptionTypeError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import {
  FAILURES_ORDERS,
  FAILURES_TRENDS,
  type FailuresCommand,
  type FailuresOrder,
  type FailuresTrend,
  HISTORY_STEPS,
  type HistoryCommand,
  type HistoryStep,
} from '../observeCommands.ts'
import { choiceOption } from './choice.ts'
import { describe } from './describe.ts'
import { integerOption } from './integer.ts'
import { checkKnown } from './known.ts'
import { type Time, timeOption } from './milliseconds.ts'
import { nameOption } from './name.ts'
import { choiceOf, integerBetween, optionsReader } from './read.ts'

/** The options of `history` for one queue. */
export interface HistoryOptions {
  /** Default 'default'. */
  readonly queue?: string
  /** Minutes are kept for 6 hours, hours for 14 days. Default 'minute'. */
  readonly step?: HistoryStep
  /** The minute, or hour, of this time is the first one. Default: the oldest kept. */
  readonly from?: Time
  /** The end, exclusive. Default: up to now. */
  readonly to?: Time
}

/** The options of `history` for all queues. */
export interface QueuesHistoryOptions extends Omit<HistoryOptions, 'queue'> {
  /** All queues. */
  readonly queues: '*'
  /** The number of queues to return one by one, the busiest: 0 to 50, default 50. */
  readonly limit?: number
}

/** The options of `failures`. */
export interface FailuresOptions {
  /** Only failures in this queue. Default: all queues. */
  readonly queue?: string
  /** Only failures of jobs of this name. Default: all names. */
  readonly name?: string
  /** 1 to 200, default 50. */
  readonly limit?: number
  /** 'last' returns the kinds seen last first, 'count' those with the most failed runs. Default 'last'. */
  readonly order?: FailuresOrder
  /** 'hour' returns the failed runs of each kind in each of the last 24 hours as well. Default: without. */
  readonly trend?: FailuresTrend
}

const HISTORY = new Set(['queue', 'queues', 'limit', 'step', 'from', 'to'])
const readFailures = optionsReader('failures', {
  queue: nameOption,
  name: nameOption,
  limit: integerBetween(1, LIMITS.pageFailures),
  order: choiceOf(FAILURES_ORDERS),
  trend: choiceOf(FAILURES_TRENDS),
})
const PAGE_GROUPS = 50

/** @throws OptionTypeError, OptionRangeError */
export function validateHistoryOptions(options: unknown = {}): HistoryCommand {
  checkKnown('history', options, HISTORY)
  const { queue = 'default', step = 'minute', from = 0, to } = options
  const busiest = busiestOf(options)
  return {
    op: 'history',
    queue: nameOption('queue', queue),
    step: choiceOption('step', step, HISTORY_STEPS),
    from: timeOption('from', from),
    ...(to !== undefined && { to: timeOption('to', to) }),
    ...(busiest !== undefined && { busiest }),
  }
}

/** Returns how many queues are wanted one by one; undefined if the history of one queue is wanted. */
function busiestOf({ queue, queues, limit }: Readonly<Record<string, unknown>>): number | undefined {
  if (queues === undefined) {
    if (limit === undefined) return undefined
    throw new OptionTypeError('limit', "limit needs queues: '*', which it bounds")
  }
  if (queues !== '*') throw new OptionTypeError('queues', `queues must be '*', got ${describe(queues)}: use queue for a single one`)
  if (queue !== undefined) throw new OptionTypeError('queue', 'queue and queues exclude each other: give one of them')
  return integerOption('limit', limit ?? LIMITS.historyQueues, 0, LIMITS.historyQueues)
}

/** @throws OptionTypeError, OptionRangeError */
export function validateFailuresOptions(options: unknown = {}): FailuresCommand {
  return { op: 'failures', limit: PAGE_GROUPS, ...readFailures(options) }
}

/** The options of `history` and of `failures`. */
import { LIMITS } from '../limits.ts'
import { type FailuresCommand, HISTORY_STEPS, type HistoryCommand, type HistoryStep } from '../observeCommands.ts'
import { choiceOption } from './choice.ts'
import { integerOption } from './integer.ts'
import { checkKnown } from './known.ts'
import { type Time, timeOption } from './milliseconds.ts'
import { nameOption } from './name.ts'

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

export interface FailuresOptions {
  /** Only failures in this queue. Default: all queues. */
  readonly queue?: string
  /** Only failures of jobs of this name. Default: all names. */
  readonly name?: string
  /** 1 to 200, default 50. */
  readonly limit?: number
}

const HISTORY = new Set(['queue', 'step', 'from', 'to'])
const FAILURES = new Set(['queue', 'name', 'limit'])
const PAGE_GROUPS = 50

/** @throws OptionTypeError, OptionRangeError */
export function validateHistoryOptions(options: unknown = {}): HistoryCommand {
  checkKnown('history', options, HISTORY)
  const { queue = 'default', step = 'minute', from = 0, to } = options
  return {
    op: 'history',
    queue: nameOption('queue', queue),
    step: choiceOption('step', step, HISTORY_STEPS),
    from: timeOption('from', from),
    ...(to !== undefined && { to: timeOption('to', to) }),
  }
}

/** @throws OptionTypeError, OptionRangeError */
export function validateFailuresOptions(options: unknown = {}): FailuresCommand {
  checkKnown('failures', options, FAILURES)
  const { queue, name, limit = PAGE_GROUPS } = options
  return {
    op: 'failures',
    ...(queue !== undefined && { queue: nameOption('queue', queue) }),
    ...(name !== undefined && { name: nameOption('name', name) }),
    limit: integerOption('limit', limit, 1, LIMITS.pageFailures),
  }
}

/** The options of `list`. */
import type { ListFilter } from '../commands.ts'
import { OptionTypeError } from '../errors.ts'
import { SEQ_LIMIT } from '../id.ts'
import { STATES, type State, type StateCode } from '../lifecycle.ts'
import { LIMITS } from '../limits.ts'
import { booleanOption, choiceOption } from './choice.ts'
import { describe } from './describe.ts'
import { integerOption } from './integer.ts'
import { checkKnown } from './known.ts'
import { nameOption } from './name.ts'
import { type PayloadMode, payloadOption } from './payload.ts'
import { textOption } from './text.ts'

export interface ListOptions {
  /** Only jobs in this state. Default: all states. */
  readonly state?: State
  /** Only jobs of this queue. Default: all queues. */
  readonly queue?: string
  /** Only jobs of this name. Default: all names. */
  readonly name?: string
  /** Only jobs with this tag. Default: any tags. */
  readonly tag?: string
  /**
   * A string that occurs in name, tags, keys or data: 1 to 512 characters, ASCII letters whatever their case. Default none. It looks
   * at one job after the other, newest first, and a page stops after so many, or so long: see `partial`.
   */
  readonly search?: string
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
  readonly before: number | undefined
  readonly search: string | undefined
  readonly payload: PayloadMode
  readonly lastRun: boolean
}

/** Jobs in a page whose size nobody has named. */
export const PAGE_JOBS = 50

const KNOWN = new Set(['state', 'queue', 'name', 'tag', 'search', 'payload', 'lastRun', 'after', 'limit'])

/** @throws OptionTypeError, OptionRangeError */
export function validateListOptions(options: unknown = {}): ListSettings {
  checkKnown('list', options, KNOWN)
  const { state, queue, name, tag, search, payload, lastRun = false, after, limit = PAGE_JOBS } = options
  return {
    filter: {
      ...(state !== undefined && { state: STATES.indexOf(choiceOption('state', state, STATES)) as StateCode }),
      ...(queue !== undefined && { queue: nameOption('queue', queue) }),
      ...(name !== undefined && { name: nameOption('name', name) }),
      ...(tag !== undefined && { tag: textOption('tag', tag) }),
    },
    limit: integerOption('limit', limit, 1, LIMITS.pageJobs),
    before: after === undefined ? undefined : parseCursor(after),
    search: search === undefined ? undefined : textOption('search', search),
    payload: payloadOption(payload),
    lastRun: booleanOption('lastRun', lastRun),
  }
}

/** Opaque to callers: the row before which the next page begins. */
export function formatCursor(seq: number): string {
  return `p${seq.toString(36)}`
}

function parseCursor(after: unknown): number {
  const seq = typeof after === 'string' && /^p[0-9a-z]{1,10}$/.test(after) ? Number.parseInt(after.slice(1), 36) : Number.NaN
  if (!(seq >= 0 && seq <= SEQ_LIMIT))
    throw new OptionTypeError('after', `after must be the 'next' of an earlier page, got ${describe(after)}`)
  return seq
}

/** The options of `events`. */
import type { EventFilter } from '../commands.ts'
import { OptionRangeError, OptionTypeError } from '../errors.ts'
import { EVENT_TYPES, type EventType } from '../events.ts'
import { choiceOption } from './choice.ts'
import { describe } from './describe.ts'
import { idOption } from './id.ts'
import { integerOption } from './integer.ts'
import { nameOption } from './name.ts'
import { optionsReader } from './read.ts'
import { type StopSignal, signalOption } from './result.ts'

/** The options of `events`. */
export interface EventsOptions {
  /**
   * The `seq` of the last event that is known: at least 0. `'now'` begins with the first event that is committed after the engine has
   * received the request. Default 0, which begins with the oldest event that is kept.
   */
  readonly after?: number | 'now'
  /** The events to read. Default: all of them. */
  readonly filter?: EventsFilter
  /** Ends the iteration with its reason when it aborts. Default none. */
  readonly signal?: StopSignal
}

/** An event is told where it meets all that is said: with `name` or `jobId` one of a job, with `queue` also one of the queue itself. */
export interface EventsFilter {
  /** Only events of these types. Default: all types. */
  readonly types?: readonly EventType[]
  /** Only events of this queue and its jobs. Default: all queues. */
  readonly queue?: string
  /** Only events of jobs of this name. Default: all names. */
  readonly name?: string
  /** Only events of this job. Default: all jobs. */
  readonly jobId?: string
}

export interface EventsSettings {
  readonly after: number | 'now'
  readonly filter: EventFilter
  readonly signal: StopSignal | undefined
}

const read = optionsReader('events', { after: afterOption, filter: filterOption, signal: signalOption })
const filters = { types: typesOption, queue: nameOption, name: nameOption, jobId: idOption }
const readFilter = optionsReader("events' filter", filters, { within: 'filter.' })

/** @throws OptionTypeError, OptionRangeError */
export function validateEventsOptions(options: unknown = {}): EventsSettings {
  return { after: 0, filter: {}, signal: undefined, ...read(options) }
}

function afterOption(_option: string, after: unknown): number | 'now' {
  if (after === 'now') return after
  if (typeof after === 'string') throw new OptionTypeError('after', `after must be the seq of an event, or 'now', got ${describe(after)}`)
  return integerOption('after', after, 0, Number.MAX_SAFE_INTEGER)
}

function filterOption(_option: string, filter: unknown): EventFilter {
  const { jobId: id, ...others } = readFilter(filter)
  return { ...others, ...(id && { id }) }
}

function typesOption(_option: string, types: unknown): readonly EventType[] {
  if (!Array.isArray(types))
    throw new OptionTypeError('filter.types', `filter.types must be an array of types of events, got ${describe(types)}`)
  if (types.length === 0)
    throw new OptionRangeError('filter.types', 1, 'filter.types must have 1 type or more, got none: leave it out for all')
  return [...new Set(types.map((type) => choiceOption('filter.types', type, EVENT_TYPES)))]
}

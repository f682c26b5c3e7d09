/** The options of `queues.purge` and `queues.drain`. */
import type { Duration } from '../duration.ts'
import { OptionTypeError } from '../errors.ts'
import type { State } from '../lifecycle.ts'
import { booleanOption, choiceOption } from './choice.ts'
import { describe } from './describe.ts'
import { durationWithin, optionsReader } from './read.ts'

/** The states that can be purged, in the order in which a job reaches them: so no job slips by during a purge. */
export const PURGED_STATES = ['blocked', 'scheduled', 'waiting', 'completed', 'failed', 'cancelled'] as const satisfies readonly State[]

export type PurgedState = (typeof PURGED_STATES)[number]

/** The options of `queues.purge`. */
export interface PurgeOptions {
  /** Only jobs in these; default all but `active`. */
  readonly states?: readonly PurgedState[]
  /** Counts, and removes nothing; default false. */
  readonly dryRun?: boolean
}

/** The jobs that a purge has removed. */
export interface PurgeResult {
  /** Jobs removed, or that would be, by state. */
  readonly states: Readonly<Partial<Record<PurgedState, number>>>
  /** All of them. */
  readonly count: number
  /** Jobs that run: they are left. */
  readonly active: number
}

/** The options of `queues.drain`. */
export interface DrainOptions {
  /** Rejects with DrainIncompleteError after this time; the queue goes on draining. 0 to 100 years, or Infinity; default Infinity. */
  readonly timeout?: Duration
}

const readPurge = optionsReader('queues.purge', { states: statesOption, dryRun: booleanOption })
const readDrain = optionsReader('queues.drain', { timeout: durationWithin({ infinity: true }) })

/** @throws OptionTypeError */
export function validatePurgeOptions(options: unknown = {}): { readonly states: readonly PurgedState[]; readonly dryRun: boolean } {
  return { states: PURGED_STATES, dryRun: false, ...readPurge(options) }
}

function statesOption(_option: string, states: unknown): readonly PurgedState[] {
  if (!Array.isArray(states)) throw new OptionTypeError('states', `states must be an array of states, got ${describe(states)}`)
  if (states.length === 0) throw new OptionTypeError('states', `states names at least one of ${PURGED_STATES.join(', ')}`)
  if (states.includes('active')) throw new OptionTypeError('states', 'running jobs cannot be purged: cancel them first, with cancelMany')
  const wanted = new Set(states.map((state, index) => choiceOption(`states[${index}]`, state, PURGED_STATES)))
  return PURGED_STATES.filter((state) => wanted.has(state))
}

/** @throws OptionTypeError, OptionRangeError */
export function validateDrainOptions(options: unknown = {}): { readonly timeoutMs: number } {
  return { timeoutMs: readDrain(options).timeout ?? Number.POSITIVE_INFINITY }
}

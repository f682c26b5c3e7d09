/** The question of the API that a tab and a query stand for. */
import type { Query as ApiQuery } from '../../api/answers.ts'
import type { Query } from './query.ts'
import type { Tab } from './tabs.ts'
import { timeOfWhen, whenOf } from './when.ts'

/** The filter of a list, in which times may move with the clock. */
export type JobFilter = Readonly<Record<string, string | { readonly agoMs: number }>>

interface Surroundings {
  readonly now: number
  readonly aheadMs: number
}

const FINISHED: readonly Tab[] = ['completed', 'failed', 'cancelled']

export function isFinished(tab: Tab): boolean {
  return FINISHED.includes(tab)
}

/** A time means the end of jobs that have ended, and the beginning of all others. Terms that are no times are left out. */
export function filterOf(tab: Tab, { terms, text }: Query, { now, aheadMs }: Surroundings): JobFilter {
  const { before, after, ...others } = terms
  const field = isFinished(tab) ? 'finished' : 'enqueued'
  const time = (value: string | undefined, name: string) => {
    const when = value === undefined ? undefined : whenOf(value, now, aheadMs)
    return when === undefined ? {} : { [name]: 'agoMs' in when ? when : timeOfWhen(when, now) }
  }
  return {
    ...stateOf(tab),
    ...others,
    ...time(after, `${field}After`),
    ...time(before, `${field}Before`),
    ...(text !== '' && { search: text }),
  }
}

function stateOf(tab: Tab): Readonly<Record<string, string>> {
  if (tab === 'all') return {}
  if (tab === 'retrying') return { state: 'scheduled', retrying: 'true' }
  return { state: tab, ...(tab === 'scheduled' && { retrying: 'false' }) }
}

/** Returns the first term that should be a time and is none. */
export function faultyTime({ terms }: Query, { now, aheadMs }: Surroundings): 'before' | 'after' | undefined {
  return (['after', 'before'] as const).find((name) => terms[name] !== undefined && whenOf(terms[name], now, aheadMs) === undefined)
}

/** Returns the order of a tab: the last to end first, or the next to be due; else the order of arrival. */
function orderOf(tab: Tab): string | undefined {
  if (isFinished(tab)) return 'finished'
  return tab === 'scheduled' || tab === 'retrying' ? 'due' : undefined
}

export const PAGE_JOBS = 50

/** Rows need the error of the last run and the beginning of the data, and no payload as a whole. */
export function listQuery(tab: Tab, filter: JobFilter, after?: string): ApiQuery {
  return { ...filter, order: orderOf(tab), payload: 'preview', include: 'lastRun', limit: PAGE_JOBS, after }
}

/** Returns the filter as bulk calls take it: a body, with times that stay. */
export function bulkFilterOf(filter: JobFilter, now: number): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(filter).map(([name, value]) => [name, bulkValueOf(name, value, now)]))
}

function bulkValueOf(name: string, value: JobFilter[string], now: number): unknown {
  if (typeof value === 'object') return timeOfWhen(value, now)
  return name === 'retrying' ? value === 'true' : value
}

/** The tabs of the list: jobs by state, those between two attempts apart from those that are scheduled. */
import type { StatsAnswer } from '../../api/answers.ts'
import { own } from '../../api/own.ts'
import { sum } from '../../chart/paths.ts'
import type { Query } from './query.ts'

export const TABS = ['all', 'waiting', 'active', 'retrying', 'scheduled', 'blocked', 'failed', 'completed', 'cancelled'] as const
export type Tab = (typeof TABS)[number]

export function isTab(state: string): boolean {
  return TABS.includes(state as Tab)
}

export function tabOf(state: string | undefined): Tab {
  return TABS.find((tab) => tab === state) ?? 'all'
}

export type TabCounts = Readonly<Record<Tab, number>>

/** Returns how many jobs each tab has; undefined if the query narrows by more than the queue, because nobody counts that. */
export function countsOf(stats: StatsAnswer | undefined, { terms, text }: Query): TabCounts | undefined {
  const { queue, ...others } = terms
  if (stats === undefined || text !== '' || Object.keys(others).length > 0) return undefined
  const states = queue === undefined ? stats.states : own(stats.queues, queue)
  if (states === undefined) return undefined
  const { waiting, active, scheduled, blocked, failed, completed, cancelled } = states
  const retrying = (queue === undefined ? stats.retrying : own(stats.queues, queue)?.retrying) ?? 0
  const counts = { waiting, active, retrying, scheduled: scheduled - retrying, blocked, failed, completed, cancelled }
  return { all: sum(Object.values(counts)), ...counts }
}

/** Returns how many jobs the tab has in the queue of the query, whatever else the query asks for. */
export function sizeOf(stats: StatsAnswer | undefined, query: Query, tab: Tab): number | undefined {
  const { queue } = query.terms
  return countsOf(stats, { ...query, terms: queue === undefined ? {} : { queue }, text: '' })?.[tab]
}

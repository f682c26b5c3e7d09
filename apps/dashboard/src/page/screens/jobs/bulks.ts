/** The changes that are offered for the jobs that are selected, by the tab that they are in. */
import type { Bulk } from '../../actions/bulk.ts'
import { STATES } from '../../text.ts'
import { bulkFilterOf, type JobFilter } from './filter.ts'
import { type Query, writeQuery } from './query.ts'
import type { Selection } from './selection.ts'
import type { Tab } from './tabs.ts'
import { JOBS_TEXT as text } from './text.ts'

const WORDS: Readonly<Record<Tab, readonly Bulk['word'][]>> = {
  all: ['retry', 'cancel', 'delete'],
  waiting: ['cancel', 'delete'],
  active: ['cancel'],
  retrying: ['retry', 'cancel', 'delete'],
  scheduled: ['cancel', 'delete'],
  blocked: ['cancel', 'delete'],
  failed: ['retry', 'delete'],
  completed: ['delete'],
  cancelled: ['retry', 'delete'],
}

export interface Scope {
  readonly tab: Tab
  readonly query: Query
  readonly filter: JobFilter
  readonly selection: Selection
}

export function bulksOf({ tab, query, filter, selection: { ids, allAt } }: Scope, now: number): readonly Bulk[] {
  const at = allAt ?? now
  const selected = allAt === undefined ? { ids: [...ids] } : bulkFilterOf(filter, at)
  const what = allAt === undefined ? text.bulk.selected : text.bulk.matching(tab === 'all' ? undefined : STATES[tab], writeQuery(query))
  return WORDS[tab].map((word) => ({ word, what, at, filter: selected }))
}

/** The question of the API that a tab and a query stand for. */
import type { Query as ApiQuery } from '../../api/answers.ts'
import type { Query } from './query.ts'
import type { Tab } from './tabs.ts'

export type JobFilter = Readonly<Record<string, string>>

export function filterOf(tab: Tab, { terms, text }: Query): JobFilter {
  return { ...(tab !== 'all' && { state: tab }), ...terms, ...(text !== '' && { search: text }) }
}

export const PAGE_JOBS = 50

/** Rows need the error of the last run and the beginning of the data, and no payload as a whole. */
export function listQuery(filter: JobFilter, after?: string): ApiQuery {
  return { ...filter, payload: 'preview', include: 'lastRun', limit: PAGE_JOBS, after }
}

/** Reads one page of a list: finds the jobs, and reads as many as a page may hold. */
import { LIMITS } from '@millrace/core'
import type { JobRow, ListQuery, ListRows, LookBound } from '@millrace/core/kernel'
import type { Database } from '../driver.ts'
import { prepareJobs, prepareJobsWithin } from './jobs.ts'
import { prepareWithLastRuns } from './lastRuns.ts'
import { preparePage } from './page.ts'
import { prepareSearch } from './search.ts'

/** The jobs of a page, and the place behind which the next one begins; null if there are none left. */
export interface Found {
  readonly seqs: readonly number[]
  readonly next: number | null
}

export function prepareList(db: Database): (query: ListQuery, bound: LookBound) => ListRows {
  const page = preparePage(db)
  const search = prepareSearch(db)
  const whole = prepareJobsWithin(db, LIMITS.pageBytes)
  const jobs = prepareJobs(db)
  const withLastRuns = prepareWithLastRuns(db)

  const find = ({ filter, before = Number.MAX_SAFE_INTEGER, limit, search: text }: ListQuery, bound: LookBound): Found => {
    if (text !== undefined) return search({ filter, text }, before, limit, bound)
    const seqs = page(filter, before, limit)
    return { seqs, next: seqs.length < limit ? null : (seqs.at(-1) as number) }
  }

  // A reader's statements see one moment only within a transaction. Otherwise a job that is removed in between would make a page
  // short, and a short page reads as the last.
  return db.transaction((query: ListQuery, bound: LookBound): ListRows => {
    const { seqs, next } = find(query, bound)
    const { payloadBytes } = query
    const rows = payloadBytes === undefined ? whole(seqs) : jobs(seqs, payloadBytes)
    return {
      rows: query.lastRun === true ? withLastRuns(rows) : rows,
      next: rows.length < seqs.length ? (rows.at(-1) as JobRow).seq : next,
    }
  })
}

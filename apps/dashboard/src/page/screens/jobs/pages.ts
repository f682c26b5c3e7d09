/** The list as it is loaded: the first page is asked for again and again, those behind it once each. */
import type { JobAnswer } from '../../api/answers.ts'
import { ROWS_MAX } from '../../window/rows.ts'

export interface JobPages {
  readonly jobs: readonly JobAnswer[]
  /** The cursor behind the last job; undefined at the end. */
  readonly next: string | undefined
  /** Newer jobs have come than those at the top, which stay because somebody is at work with them. */
  readonly isBehind: boolean
  /** How many jobs a search has passed so far. */
  readonly scanned: number
}

interface Page {
  readonly jobs: readonly JobAnswer[]
  readonly next?: string | undefined
  readonly partial?: boolean | undefined
  readonly scanned?: number | undefined
}

/**
 * Puts a new first page before what is loaded behind it. Where the two do not meet, too many jobs have come since: the list begins anew,
 * unless it is held.
 */
export function withFirst(known: JobPages | undefined, first: Page, isHeld: boolean): JobPages {
  const anew = { jobs: first.jobs, next: first.next, isBehind: false, scanned: first.scanned ?? 0 }
  if (known === undefined || first.next === undefined) return anew
  const fresh = new Set(first.jobs.map(({ id }) => id))
  // It ended at a bound before it was full: what lies behind it is known from the pages that followed.
  if (first.partial) return { ...known, jobs: [...first.jobs, ...known.jobs.filter(({ id }) => !fresh.has(id))], isBehind: false }
  const meeting = known.jobs.findLastIndex(({ id }) => fresh.has(id))
  if (meeting === -1) return isHeld ? { ...known, isBehind: true } : anew
  const behind = known.jobs.slice(meeting + 1)
  return behind.length === 0 ? anew : { ...known, jobs: [...first.jobs, ...behind], isBehind: false }
}

/** Appends a page; jobs that have moved between two pages are there once. */
export function withNext({ jobs, isBehind, scanned }: JobPages, page: Page): JobPages {
  const known = new Set(jobs.map(({ id }) => id))
  const all = [...jobs, ...page.jobs.filter(({ id }) => !known.has(id))].slice(0, ROWS_MAX)
  return { jobs: all, next: all.length >= ROWS_MAX ? undefined : page.next, isBehind, scanned: scanned + (page.scanned ?? 0) }
}

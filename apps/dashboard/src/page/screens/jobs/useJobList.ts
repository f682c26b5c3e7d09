/** Loads the list: the first page stays fresh, and others follow on demand. A search goes on until a page is full. */
import { useEffect, useReducer, useRef } from 'preact/hooks'
import type { Query } from '../../api/answers.ts'
import { queryText } from '../../api/client.ts'
import { useAnswer } from '../../hooks.ts'
import { api, live } from '../../page.ts'
import { type JobFilter, listQuery, PAGE_JOBS } from './filter.ts'
import { type JobPages, withFirst, withNext } from './pages.ts'
import type { Tab } from './tabs.ts'

export interface JobList {
  /** Undefined until the first answer. */
  readonly pages: JobPages | undefined
  /** It asks for jobs behind those that are loaded. */
  readonly isLoading: boolean
  /** Somebody has stopped it before it had as many as it wanted. */
  readonly isStopped: boolean
  readonly error: string | undefined
  readonly more: () => void
  readonly stop: () => void
  readonly showNewest: () => void
}

interface State {
  readonly key: string
  first: unknown
  pages: JobPages | undefined
  wanted: number
  isLoading: boolean
  isStopped: boolean
  error: string | undefined
}

/** Beats between two looks at a search, each of which walks through many jobs. */
const SEARCHED_EVERY = 5

const begun = (key: string): State => ({
  ...{ key, first: undefined, pages: undefined, wanted: PAGE_JOBS },
  ...{ isLoading: false, isStopped: false, error: undefined },
})

export function useJobList(tab: Tab, filter: JobFilter, isHeld: boolean): JobList {
  const key = queryText({ tab, ...filter }, 0)
  const [, redraw] = useReducer((times: number) => times + 1, 0)
  const ref = useRef<State>(begun(key))
  if (ref.current.key !== key) ref.current = begun(key)
  const list = ref.current
  const { value, error } = useAnswer('/v1/jobs', listQuery(tab, filter), filter['search'] === undefined ? 1 : SEARCHED_EVERY)
  if (value !== undefined && value !== list.first) {
    list.first = value
    list.pages = withFirst(list.pages, value, isHeld)
  }
  const isSeen = !live.pace.hidden.value
  const { pages, wanted, isLoading, isStopped } = list
  const goesOn = isSeen && !isLoading && !isStopped && list.error === undefined && pages?.next !== undefined && pages.jobs.length < wanted
  useEffect(() => {
    if (goesOn) void load(list, listQuery(tab, filter, pages?.next), redraw)
  }, [goesOn, pages?.next])
  return {
    pages,
    isLoading,
    isStopped,
    error: list.error ?? error?.message,
    more() {
      Object.assign(list, { wanted: (pages?.jobs.length ?? 0) + PAGE_JOBS, isStopped: false, error: undefined })
      redraw(undefined)
    },
    stop() {
      list.isStopped = true
      redraw(undefined)
    },
    showNewest() {
      list.pages = undefined
      list.first = undefined
      list.wanted = PAGE_JOBS
      redraw(undefined)
    },
  }
}

async function load(list: State, query: Query, redraw: (action: unknown) => void): Promise<void> {
  list.isLoading = true
  redraw(undefined)
  try {
    const page = await api.get('/v1/jobs', query)
    if (list.pages !== undefined) list.pages = withNext(list.pages, page)
  } catch (error) {
    list.error = (error as Error).message
  } finally {
    list.isLoading = false
    redraw(undefined)
  }
}

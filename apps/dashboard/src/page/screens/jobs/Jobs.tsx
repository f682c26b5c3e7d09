/** The list of jobs: by state, by a query, and one of them beside it. The address is all of what is seen. */
import { useState } from 'preact/hooks'
import { Page } from '../../frame/Page.tsx'
import { useKeys, useStats } from '../../hooks.ts'
import { router } from '../../page.ts'
import { Empty } from '../../parts/Empty.tsx'
import { jobLink } from '../../router/links.ts'
import type { ScreenProps } from '../../screens.ts'
import { TEXT } from '../../text.ts'
import { columnsOf } from './cells.ts'
import { filterOf } from './filter.ts'
import { JobTable } from './JobTable.tsx'
import { ListEnd } from './ListEnd.tsx'
import { Peek } from './Peek.tsx'
import { QueryLine } from './QueryLine.tsx'
import { parseQuery, type Query, writeQuery } from './query.ts'
import { Tabs } from './Tabs.tsx'
import { countsOf, tabOf } from './tabs.ts'
import { JOBS_TEXT as text } from './text.ts'
import { useJobList } from './useJobList.ts'

export function Jobs({ query: { state, q = '', peek } }: ScreenProps) {
  const tab = tabOf(state)
  const query = parseQuery(q)
  const stats = useStats().value
  const list = useJobList(filterOf(tab, query), peek !== undefined)
  const jobs = list.pages?.jobs ?? []
  const [current, setCurrent] = useState<string>()
  const columns = columnsOf(tab, query.terms.queue !== undefined)
  const onPeek = (id: string) => {
    setCurrent(id)
    router.amend({ peek: id })
  }
  const close = () => router.amend({ peek: undefined })
  const move = (step: number) => {
    const at = jobs.findIndex(({ id }) => id === (current ?? peek))
    const next = jobs[at === -1 ? 0 : Math.min(jobs.length - 1, Math.max(0, at + step))]
    if (next === undefined) return
    setCurrent(next.id)
    if (peek !== undefined) router.amend({ peek: next.id })
    reveal(next.id)
  }
  const here = current ?? peek
  const key = (keys: string, label: string, run: () => void) => ({ keys, label, group: text.keys.group, run })
  useKeys([
    key('j', text.keys.next, () => move(1)),
    key('k', text.keys.previous, () => move(-1)),
    ...(here === undefined
      ? []
      : [
          key(' ', text.keys.peek, () => (peek === here ? close() : onPeek(here))),
          key('Enter', text.keys.open, () => router.follow(jobLink(here))),
        ]),
    key('f', text.keys.focus, () => document.querySelector<HTMLElement>('[data-query]')?.focus()),
    ...(peek === undefined ? [] : [key('Escape', TEXT.actions.close, close)]),
  ])
  const found = list.pages === undefined ? '' : text.found(jobs.length, list.pages.next !== undefined)
  return (
    <Page title={TEXT.screens.jobs}>
      <Tabs current={tab} counts={countsOf(stats, query)} line={writeQuery(query)} />
      <QueryLine query={query} known={{ stats, jobs }} found={found} onChange={show} />
      <div class={peek === undefined ? 'stack' : 'cols'}>
        {list.pages !== undefined && jobs.length === 0 && list.pages.next === undefined ? (
          <Empty icon="jobs" title={text.none.title} text={text.none.text} />
        ) : (
          <section class="card rows" aria-label={text.list} aria-busy={list.pages === undefined}>
            <JobTable tab={tab} jobs={jobs} columns={columns} currentId={current} peekedId={peek} onPeek={onPeek} />
            <ListEnd list={list} />
          </section>
        )}
        {peek !== undefined && <Peek key={peek} id={peek} onClose={close} />}
      </div>
    </Page>
  )
}

/** A typed state is a tab, and a typed id the page of that job. */
function show(query: Query): void {
  const { state, id } = query.leading
  if (id !== undefined) router.follow(jobLink(id))
  else
    router.amend({
      q: writeQuery(query),
      peek: undefined,
      ...(state !== undefined && { state: tabOf(state) === 'all' ? undefined : state }),
    })
}

function reveal(id: string): void {
  const link = document.querySelector<HTMLElement>(`tr[data-job="${CSS.escape(id)}"] a`)
  link?.focus({ preventScroll: true })
  link?.closest('tr')?.scrollIntoView({ block: 'nearest' })
}

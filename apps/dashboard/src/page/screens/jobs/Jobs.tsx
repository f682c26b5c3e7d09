/** The list of jobs: by state, by a query, and one of them beside it. The address is all of what is seen. */
import { useEffect, useState } from 'preact/hooks'
import { aheadMs } from '../../format/times.ts'
import { Page } from '../../frame/Page.tsx'
import { useKeys, useShared, useStable, useStats } from '../../hooks.ts'
import { NewJobDialog } from '../../job/NewJobDialog.tsx'
import { draftOf } from '../../job/newJob.ts'
import { NEW_JOB_TEXT } from '../../job/newJobText.ts'
import { now, router, sessions, settings } from '../../page.ts'
import { Empty } from '../../parts/Empty.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { jobLink } from '../../router/links.ts'
import { TEXT } from '../../text.ts'
import type { ScreenProps } from '../props.ts'
import { BulkBar } from './BulkBar.tsx'
import { columnsOf } from './cells.ts'
import { faultyTime, filterOf } from './filter.ts'
import { JobPanel } from './JobPanel.tsx'
import { JobTable } from './JobTable.tsx'
import { ListEnd } from './ListEnd.tsx'
import { QueryLine } from './QueryLine.tsx'
import { parseQuery, type Query, writeQuery } from './query.ts'
import { isEmpty, NOTHING_SELECTED, rangeTo, toggled } from './selection.ts'
import { Tabs } from './Tabs.tsx'
import { countsOf, sizeOf, tabOf } from './tabs.ts'
import { JOBS_TEXT as text } from './text.ts'
import { useJobList } from './useJobList.ts'

export function Jobs({ query: { state, q = '', peek, new: isNew } }: ScreenProps) {
  const tab = tabOf(state)
  const query = parseQuery(q)
  const stats = useStats().value
  const around = { now: now.peek(), aheadMs: aheadMs(now.peek(), settings.zone.value) }
  const filter = filterOf(tab, query, around)
  const [selection, setSelection] = useState(NOTHING_SELECTED)
  const list = useJobList(tab, filter, peek !== undefined || !isEmpty(selection))
  const jobs = list.pages?.jobs ?? []
  const [current, setCurrent] = useState<string>()
  const columns = useShared(columnsOf(tab, query.terms.queue !== undefined))
  const order = jobs.map(({ id }) => id)
  const canChange = sessions.can('admin')
  const canEnqueue = sessions.can('enqueue')
  useEffect(() => setSelection(NOTHING_SELECTED), [tab, q])
  const onPeek = useStable((id: string) => {
    setCurrent(id)
    router.amend({ peek: id })
  })
  const onSelect = useStable((id: string, isRange: boolean) => setSelection((isRange ? rangeTo : toggled)(selection, id, order)))
  const onSelectAll = useStable(() => setSelection({ ...NOTHING_SELECTED, allAt: isEmpty(selection) ? now.peek() : undefined }))
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
          ...(canChange
            ? [key('x', text.keys.select, () => onSelect(here, false)), key('shift+x', text.keys.range, () => onSelect(here, true))]
            : []),
          key('Enter', text.keys.open, () => router.follow(jobLink(here))),
        ]),
    ...(canChange ? [key('a', text.keys.all, onSelectAll)] : []),
    ...(canEnqueue ? [key('n', NEW_JOB_TEXT.action, openNew)] : []),
    key('f', text.keys.focus, () => document.querySelector<HTMLElement>('[data-query]')?.focus()),
  ])
  const time = faultyTime(query, around)
  const [word] = query.faults
  const fault = time === undefined ? word && text.fault(word.word, word.meant) : text.wrongTime(time)
  const found = list.pages === undefined ? '' : text.found(jobs.length, list.pages.next !== undefined)
  return (
    <Page name="jobs" title={TEXT.screens.jobs} tools={canEnqueue && <NewJobButton />}>
      <Tabs current={tab} counts={countsOf(stats, query)} line={writeQuery(query)} />
      <QueryLine query={query} known={{ stats, jobs }} found={found} fault={fault} onChange={show} />
      <div class={peek === undefined ? 'stack' : 'cols'}>
        {list.pages !== undefined && jobs.length === 0 && list.pages.next === undefined ? (
          <Empty icon="jobs" title={text.none.title} text={text.none.text} />
        ) : (
          <section class="card rows" aria-label={text.list} aria-busy={list.pages === undefined}>
            <JobTable
              tab={tab}
              jobs={jobs}
              columns={columns}
              currentId={current}
              peekedId={peek}
              onPeek={onPeek}
              selection={canChange ? selection : undefined}
              onSelect={onSelect}
              onSelectAll={onSelectAll}
            />
            <ListEnd list={list} all={sizeOf(stats, query, tab)} />
          </section>
        )}
        {peek !== undefined && <JobPanel key={peek} id={peek} onClose={close} />}
      </div>
      {!isEmpty(selection) && (
        <BulkBar scope={{ tab, query, filter, selection }} hasKeys={peek === undefined} onClear={() => setSelection(NOTHING_SELECTED)} />
      )}
      {isNew !== undefined && canEnqueue && (
        <NewJobDialog
          title={NEW_JOB_TEXT.title}
          draft={draftOf({ queue: query.terms.queue ?? '', job: query.terms.name ?? '', concurrencyKey: query.terms.key ?? '' })}
          first="job"
          onClose={() => router.amend({ new: undefined })}
        />
      )}
    </Page>
  )
}

const openNew = () => router.amend({ new: '1' })

function NewJobButton() {
  return (
    <button type="button" class="btn" onClick={openNew}>
      <Icon name="plus" size={12} />
      {NEW_JOB_TEXT.action}
      <kbd class="wide">n</kbd>
    </button>
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

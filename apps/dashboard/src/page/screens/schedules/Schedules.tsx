/** Schedules: when each runs, how its last job ended, and when the next one comes. */
import { useState } from 'preact/hooks'
import type { Schedule } from '../../api/answers.ts'
import { Page } from '../../frame/Page.tsx'
import { useAnswer } from '../../hooks.ts'
import { router, sessions } from '../../page.ts'
import { Ago } from '../../parts/Ago.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { StateIcon } from '../../parts/StateIcon.tsx'
import { type Column, Table } from '../../parts/Table.tsx'
import { TEXT } from '../../text.ts'
import type { ScreenProps } from '../props.ts'
import { NEW } from './form.ts'
import { ScheduleForm } from './ScheduleForm.tsx'
import { SchedulePanel } from './SchedulePanel.tsx'
import { text } from './text.ts'
import { wordsOf } from './words.ts'

/** Beats between two questions: schedules fire by the second at most. */
const EVERY = 2
const MOST = 200
const { columns } = text

export function Schedules({ query }: ScreenProps) {
  const prefix = query['q'] ?? ''
  const [after, setAfter] = useState<string>()
  const answer = useAnswer('/v1/schedules', { prefix, limit: MOST, after }, EVERY).value
  const [isNew, setNew] = useState(false)
  const shown = query['schedule']
  const close = () => router.amend({ schedule: undefined })
  const add = sessions.can('admin') && (
    <button type="button" class="btn" onClick={() => setNew(true)}>
      <Icon name="plus" size={12} />
      {text.add}
    </button>
  )
  return (
    <Page name="schedules" title={TEXT.screens.schedules} tools={add}>
      {answer?.schedules.length === 0 && prefix === '' && shown === undefined ? (
        <Empty icon="schedules" title={text.empty.title} text={text.empty.text} />
      ) : (
        <>
          <div class="filter">
            <Icon name="search" />
            <input
              type="search"
              class="input"
              aria-label={text.filter}
              placeholder={text.filter}
              value={prefix}
              spellcheck={false}
              onInput={({ currentTarget }) => {
                setAfter(undefined)
                router.amend({ q: currentTarget.value })
              }}
            />
          </div>
          <div class={shown === undefined ? '' : 'cols'}>
            {answer !== undefined && <List schedules={answer.schedules} shown={shown} />}
            {shown !== undefined && <SchedulePanel key={shown} id={shown} onClose={close} />}
          </div>
          {answer?.next !== undefined && (
            <button type="button" class="btn" onClick={() => setAfter(answer.next)}>
              {text.more}
            </button>
          )}
        </>
      )}
      {isNew && <ScheduleForm before={NEW} onClose={() => setNew(false)} />}
    </Page>
  )
}

function List({ schedules, shown }: { readonly schedules: readonly Schedule[]; readonly shown: string | undefined }) {
  if (schedules.length === 0) return <p class="muted">{text.none}</p>
  return (
    <section class="card">
      <Table name="schedules" rows={schedules} columns={COLUMNS} keyOf={({ id }) => id} shown={shown} />
    </section>
  )
}

const COLUMNS: readonly Column<Schedule>[] = [
  {
    ...{ head: columns.schedule, style: 'queue' },
    cell: ({ id, paused }, isShown) => (
      <span class="inline">
        <a href={router.to('/schedules', { ...router.address.value.query, schedule: isShown ? undefined : id })} class="strong">
          {id}
        </a>
        {paused && <span class="tag warn">{text.tags.paused}</span>}
      </span>
    ),
  },
  {
    ...{ head: columns.times, style: 'times opt' },
    title: ({ cron }) => cron,
    cell: (schedule) => (
      <>
        {wordsOf(schedule) ?? <code>{schedule.cron}</code>} {schedule.cron !== undefined && <span class="faint">{schedule.timezone}</span>}
      </>
    ),
  },
  { head: columns.job, style: 'job opt', cell: ({ job }) => job },
  {
    ...{ head: columns.last, style: 'r' },
    cell: ({ lastRunAt, lastResult }) =>
      lastRunAt === undefined ? (
        <span class="faint">{text.never}</span>
      ) : (
        <span class="inline">
          {lastResult !== undefined && <StateIcon state={lastResult.state} />}
          <Ago at={lastRunAt} />
        </span>
      ),
  },
  {
    ...{ head: columns.next, style: 'r muted' },
    cell: ({ nextRunAt, paused }) => (nextRunAt === undefined || paused ? text.ended : <Ago at={nextRunAt} />),
  },
]

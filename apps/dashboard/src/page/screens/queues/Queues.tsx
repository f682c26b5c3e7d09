/** The list of queues: worst first, with what each holds its jobs to, and its pauses. */
import { useState } from 'preact/hooks'
import { act } from '../../actions/act.ts'
import type { StatsAnswer } from '../../api/answers.ts'
import { Page } from '../../frame/Page.tsx'
import { useAnswer, useShared, useStats } from '../../hooks.ts'
import { now, router, sessions } from '../../page.ts'
import { Ask } from '../../parts/Ask.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { TEXT } from '../../text.ts'
import { PERIODS } from '../overview/periods.ts'
import type { ScreenProps } from '../props.ts'
import { QueueList } from './QueueList.tsx'
import { listOf } from './rows.ts'
import { text } from './text.ts'

const SLOWLY = 8

export function Queues({ query }: ScreenProps) {
  const stats = useStats().value
  return (
    <Page name="queues" title={TEXT.screens.queues} tools={stats !== undefined && sessions.can('admin') && <PauseAll stats={stats} />}>
      {stats !== undefined && <Shown stats={stats} filter={query['q'] ?? ''} />}
    </Page>
  )
}

function Shown({ stats, filter }: { readonly stats: StatsAnswer; readonly filter: string }) {
  const { step, ms, queues: most } = PERIODS['1h']
  const recent = useAnswer('/v1/history', { queues: '*', step, from: { agoMs: ms }, limit: most }, SLOWLY).value
  const queues = useAnswer('/v1/queues', { limit: 500 }, SLOWLY).value?.queues ?? []
  const { rows, matching } = useShared(listOf({ stats, queues, recent, now: now.peek() }, filter))
  const all = Object.keys(stats.queues).length + (stats.queuesLeftOut ?? 0)
  if (all === 0) return <Empty icon="queues" title={text.empty.title} text={text.empty.text} />
  return (
    <>
      {stats.paused && (
        <section class="card well">
          <span class="s-warn">
            <Icon name="pause" size={16} />
          </span>
          <p>
            <strong>{text.all.paused}</strong>
          </p>
        </section>
      )}
      <div class="filter">
        <Icon name="search" />
        <input
          type="search"
          class="input"
          aria-label={text.filter}
          placeholder={text.filter}
          value={filter}
          spellcheck={false}
          onInput={({ currentTarget }) => router.amend({ q: currentTarget.value })}
        />
      </div>
      {rows.length > 0 ? <QueueList rows={rows} /> : <p class="muted">{text.none}</p>}
      {(rows.length < matching || (filter === '' && rows.length < all)) && (
        <p class="muted small">{text.leftOut(rows.length, filter === '' ? all : matching)}</p>
      )}
    </>
  )
}

function PauseAll({ stats: { paused, states } }: { readonly stats: StatsAnswer }) {
  const [isAsked, setAsked] = useState(false)
  const pauseAll = () => act({ path: '/v1/engine/pause', done: text.all.done })
  if (paused)
    return (
      <button type="button" class="btn" onClick={() => void act({ path: '/v1/engine/resume', done: TEXT.actions.allResumed })}>
        <Icon name="play" size={12} />
        {text.all.resume}
      </button>
    )
  return (
    <>
      <button type="button" class="btn" onClick={() => setAsked(true)}>
        <Icon name="pause" size={12} />
        {text.all.pause}
      </button>
      {isAsked && (
        <Ask title={text.all.title} action={text.all.confirm} onConfirm={pauseAll} onClose={() => setAsked(false)}>
          <p>{text.all.text(states.waiting)}</p>
        </Ask>
      )}
    </>
  )
}

import { useMemo, useState } from 'preact/hooks'
import { act } from '../../actions/act.ts'
import { pause } from '../../actions/pauses.ts'
import type { QueueAnswer, QueueKeysAnswer } from '../../api/answers.ts'
import { count } from '../../format/numbers.ts'
import { useAnswer, useShared } from '../../hooks.ts'
import { router, sessions } from '../../page.ts'
import { Icon } from '../../parts/Icon.tsx'
import { type Column, Table } from '../../parts/Table.tsx'
import { jobsLink } from '../../router/links.ts'
import { TEXT } from '../../text.ts'
import { text } from './text.ts'

type Key = QueueKeysAnswer['keys'][number]

const { keys } = text
const { columns: heads } = keys
/** Beats between two questions: the server looks at many keys. */
const EVERY = 3
const SHOWN = 20

/** The keys that hold back the most jobs, those that are paused, and a field to pause another one. */
export function Keys({ queue: { name: queue, pausedKeys, pausedLeftOut = 0 } }: { readonly queue: QueueAnswer }) {
  const isAdmin = sessions.can('admin')
  const found = useKeysOf(queue)
  const rows = useShared(found?.keys ?? [])
  const columns = useMemo(() => [keyColumn(queue), ...FIGURES, ...(isAdmin ? [pauseColumn(queue)] : [])], [queue, isAdmin])
  const others = pausedKeys.filter((paused) => rows.every(({ key }) => key !== paused))
  if (!isAdmin && rows.length + pausedKeys.length === 0) return null
  return (
    <section class="card" aria-label={keys.title}>
      <header>
        <h2>{keys.title}</h2>
        {isAdmin && <PauseKey queue={queue} />}
      </header>
      {rows.length > 0 && <Table name="names" rows={rows} columns={columns} keyOf={({ key }) => key} />}
      {others.length + pausedLeftOut > 0 && (
        <div class="content">
          <ul class="chips">
            {others.map((key) => (
              <li key={key} class="tag warn">
                <a href={router.to(jobsLink({ queue, key }))}>{key}</a>
                {isAdmin && <Pause queue={queue} paused={key} />}
              </li>
            ))}
          </ul>
          {pausedLeftOut > 0 && <p class="muted small">{keys.leftOut(pausedLeftOut)}</p>}
        </div>
      )}
      {rows.length + pausedKeys.length === 0 && <p class="content muted">{keys.none}</p>}
      {found?.partial && <p class="content muted small">{keys.partial(found.known)}</p>}
    </section>
  )
}

/** The path begins as that of the queue, whose answer is another one. */
function useKeysOf(queue: string): QueueKeysAnswer | undefined {
  return useAnswer(`/v1/queues/${encodeURIComponent(queue)}/keys`, { limit: SHOWN }, EVERY).value as QueueKeysAnswer | undefined
}

const keyColumn = (queue: string): Column<Key> => ({
  head: heads.key,
  style: 'queue',
  cell: ({ key, paused }) => (
    <span class="inline">
      <a href={router.to(jobsLink({ queue, key }))} class="strong">
        {key}
      </a>
      {paused && <span class="tag warn">{text.tags.paused}</span>}
    </span>
  ),
})

const FIGURES: readonly Column<Key>[] = [
  { head: heads.waiting, style: 'r', cell: ({ waiting }) => count(waiting) },
  { head: heads.running, style: 'r', tone: ({ active }) => (active === 0 ? 'faint' : ''), cell: ({ active }) => count(active) },
]

const pauseColumn = (queue: string): Column<Key> => ({
  head: TEXT.overview.columns.actions,
  style: 'fit',
  cell: ({ key, paused }) => <Pause queue={queue} {...(paused ? { paused: key } : { running: key })} />,
})

/** Pauses or resumes a key. */
function Pause({ queue, paused, running = '' }: { readonly queue: string; readonly paused?: string; readonly running?: string }) {
  const [word, key] = paused === undefined ? (['pause', running] as const) : (['resume', paused] as const)
  return (
    <button type="button" class="btn ghost" aria-label={keys[word](key)} onClick={() => void act(pause(word, queue, { key }))}>
      <Icon name={word === 'pause' ? 'pause' : 'play'} size={12} />
    </button>
  )
}

function PauseKey({ queue }: { readonly queue: string }) {
  const [key, setKey] = useState('')
  const onSubmit = async (event: Event) => {
    event.preventDefault()
    if (key !== '' && (await act(pause('pause', queue, { key })))) setKey('')
  }
  return (
    <form class="end" onSubmit={(event) => void onSubmit(event)}>
      <input
        class="input"
        aria-label={keys.label}
        placeholder={keys.placeholder}
        value={key}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => setKey(currentTarget.value)}
      />
      <button type="submit" class="btn" disabled={key === ''}>
        {keys.pauseOther}
      </button>
    </form>
  )
}

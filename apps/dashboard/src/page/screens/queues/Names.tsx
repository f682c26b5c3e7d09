import { useMemo } from 'preact/hooks'
import { act } from '../../actions/act.ts'
import { pause } from '../../actions/pauses.ts'
import { duration } from '../../format/durations.ts'
import { count } from '../../format/numbers.ts'
import { router, sessions } from '../../page.ts'
import { Icon } from '../../parts/Icon.tsx'
import { type Column, Table } from '../../parts/Table.tsx'
import { jobsLink } from '../../router/links.ts'
import { TEXT } from '../../text.ts'
import { NOTHING } from '../overview/queueColumns.tsx'
import type { NameRow } from './names.ts'
import { text } from './text.ts'

const { names } = text
const { columns: heads } = names
const SHOWN = 50

export function Names({ queue, rows }: { readonly queue: string; readonly rows: readonly NameRow[] }) {
  const columns = useMemo(() => [nameColumn(queue), ...FIGURES, ...(sessions.can('admin') ? [pauseColumn(queue)] : [])], [queue])
  return (
    <section class="card">
      <header>
        <h2>{names.title}</h2>
      </header>
      {rows.length === 0 ? (
        <p class="content muted">{names.none}</p>
      ) : (
        <Table name="names" rows={rows.slice(0, SHOWN)} columns={columns} keyOf={({ name }) => name} />
      )}
    </section>
  )
}

const nameColumn = (queue: string): Column<NameRow> => ({
  head: heads.name,
  style: 'queue',
  cell: ({ name, isPaused, unserved }) => (
    <span class="inline">
      <a href={router.to(jobsLink({ queue, name }))} class="strong">
        {name}
      </a>
      {isPaused && <span class="tag warn">{text.tags.paused}</span>}
      {unserved !== undefined && <span class="tag bad">{names.unserved(unserved)}</span>}
    </span>
  ),
})

const timeColumn = (head: string, style: string, ms: (row: NameRow) => number | undefined): Column<NameRow> => ({
  ...{ head, style },
  cell: (row) => {
    const time = ms(row)
    return time === undefined ? NOTHING : duration(time)
  },
})

const FIGURES: readonly Column<NameRow>[] = [
  { head: heads.started, style: 'r opt', cell: ({ started }) => count(started) },
  {
    ...{ head: heads.failed, style: 'r opt' },
    tone: ({ failed }) => (failed === 0 ? 'faint' : ''),
    cell: ({ failed }) => (failed === 0 ? NOTHING : count(failed)),
  },
  timeColumn(heads.wait, 'r', ({ wait }) => wait?.p50),
  timeColumn(heads.waitMost, 'r opt muted', ({ wait }) => wait?.p95),
  timeColumn(heads.run, 'r', ({ run }) => run?.p50),
  timeColumn(heads.runMost, 'r opt muted', ({ run }) => run?.p95),
  {
    ...{ head: heads.workers, style: 'r opt' },
    tone: ({ workers }) => (workers === 0 ? 's-bad' : ''),
    cell: ({ workers }) => workers ?? NOTHING,
  },
]

const pauseColumn = (queue: string): Column<NameRow> => ({
  head: TEXT.overview.columns.actions,
  style: 'fit',
  cell: ({ name, isPaused }) => {
    const word = isPaused ? 'resume' : 'pause'
    return (
      <button type="button" class="btn ghost" aria-label={names[word](name)} onClick={() => void act(pause(word, queue, { job: name }))}>
        <Icon name={isPaused ? 'play' : 'pause'} size={12} />
      </button>
    )
  },
})

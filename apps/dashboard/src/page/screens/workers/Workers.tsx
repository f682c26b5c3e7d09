/** Workers: what each serves and runs, which need a look, and how to let one go. */
import { useMemo, useState } from 'preact/hooks'
import { sum } from '../../chart/paths.ts'
import { duration } from '../../format/durations.ts'
import { bytes } from '../../format/numbers.ts'
import { Page } from '../../frame/Page.tsx'
import { useAnswer, useShared } from '../../hooks.ts'
import { router, sessions } from '../../page.ts'
import { Ago } from '../../parts/Ago.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Gauge } from '../../parts/Gauge.tsx'
import { type Column, Table } from '../../parts/Table.tsx'
import { TEXT } from '../../text.ts'
import type { ScreenProps } from '../props.ts'
import { kindsOf, type WorkerRow, workerRows } from './rows.ts'
import { Stop } from './Stop.tsx'
import { text } from './text.ts'
import { WorkerPanel } from './WorkerPanel.tsx'

const { columns } = text

export function Workers({ query }: ScreenProps) {
  const workers = useAnswer('/v1/workers').value?.workers
  const rows = useShared(workers && workerRows(workers))
  const [stopped, setStopped] = useState<WorkerRow>()
  const shown = query['worker']
  const close = () => router.amend({ worker: undefined })
  return (
    <Page name="workers" title={TEXT.screens.workers} tools={rows !== undefined && <Sum rows={rows} />}>
      {rows?.length === 0 && <Empty icon="workers" title={text.empty.title} text={text.empty.text} />}
      {rows !== undefined && rows.length > 0 && (
        <div class={shown === undefined ? '' : 'cols'}>
          <List rows={rows} shown={shown} onStop={setStopped} />
          {shown !== undefined && <WorkerPanel id={shown} row={rows.find(({ id }) => id === shown)} onClose={close} onStop={setStopped} />}
        </div>
      )}
      {stopped !== undefined && <Stop row={stopped} onClose={() => setStopped(undefined)} />}
    </Page>
  )
}

function Sum({ rows }: { readonly rows: readonly WorkerRow[] }) {
  const total = (name: 'slots' | 'taken') => sum(rows.map((row) => row[name]))
  return <span class="muted small wide">{text.sum(rows.length, total('taken'), total('slots'))}</span>
}

interface ListProps {
  readonly rows: readonly WorkerRow[]
  readonly shown: string | undefined
  readonly onStop: (row: WorkerRow) => void
}

function List({ rows, shown, onStop }: ListProps) {
  // Beside another card there is room for less.
  const isShort = shown !== undefined
  const table = useMemo(
    () => [...COLUMNS, ...(isShort ? [] : PROCESS), SEEN, ...(sessions.can('admin') ? [stopColumn(onStop)] : [])],
    [isShort, onStop],
  )
  return (
    <section class="card">
      <Table name="workers" rows={rows} columns={table} keyOf={({ id }) => id} shown={shown} />
    </section>
  )
}

const COLUMNS: readonly Column<WorkerRow>[] = [
  {
    ...{ head: columns.worker, style: 'queue' },
    cell: ({ id, isAway, isLate, zombies, isStopping, isPaused }, isShown) => (
      <span class="inline">
        <a href={router.to('/workers', { worker: isShown ? undefined : id })} class="strong">
          {id}
        </a>
        {isAway && <span class="tag warn">{text.tags.away}</span>}
        {isLate && <span class="tag warn">{text.tags.late}</span>}
        {zombies > 0 && <span class="tag bad">{text.tags.zombies(zombies)}</span>}
        {isStopping && <span class="tag live">{text.tags.stopping}</span>}
        {isPaused && <span class="tag warn">{text.tags.paused}</span>}
      </span>
    ),
  },
  { head: columns.host, style: 'opt muted', cell: ({ host, pid }) => text.host(host, pid) },
  {
    ...{ head: columns.slots, style: 'gauge-column' },
    cell: ({ taken, slots }) => (
      <span class="inline">
        <Gauge value={taken} limit={slots} tight={false} />
        <span class="muted">
          {taken} / {slots}
        </span>
      </span>
    ),
  },
  { head: columns.names, style: 'opt', title: namesOf, cell: namesOf },
]

function namesOf({ names }: WorkerRow): string {
  return names.join(', ')
}

/** The columns of the process. Beside another card there is no room for them: that card says them, too. */
const PROCESS: readonly Column<WorkerRow>[] = [
  { head: columns.version, style: 'opt muted', title: kindsOf, cell: ({ version }) => version },
  {
    ...{ head: columns.delay, style: 'r opt' },
    tone: ({ isLate }) => (isLate ? 's-warn' : 'muted'),
    cell: ({ delayMs }) => delayMs !== undefined && duration(delayMs),
  },
  { head: columns.memory, style: 'r opt muted', cell: ({ rssBytes }) => rssBytes !== undefined && bytes(rssBytes) },
]

const SEEN: Column<WorkerRow> = {
  ...{ head: columns.seen, style: 'r' },
  tone: ({ isAway }) => (isAway ? 's-warn' : 'muted'),
  cell: ({ seenAt }) => seenAt !== undefined && <Ago at={seenAt} />,
}

const stopColumn = (onStop: (row: WorkerRow) => void): Column<WorkerRow> => ({
  ...{ head: columns.actions, style: 'fit' },
  cell: (row) => (
    <button type="button" class="btn" disabled={row.isStopping} aria-label={`${text.stop} ${row.id}`} onClick={() => onStop(row)}>
      {text.stop}
    </button>
  ),
})

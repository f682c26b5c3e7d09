/** Workers: what each serves and runs, which need a look, and how to let one go. */
import { useState } from 'preact/hooks'
import { sum } from '../../chart/paths.ts'
import { Page } from '../../frame/Page.tsx'
import { useAnswer, useKeys, useShared } from '../../hooks.ts'
import { router, sessions } from '../../page.ts'
import { Ago } from '../../parts/Ago.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Gauge } from '../../parts/Gauge.tsx'
import { memo } from '../../parts/memo.ts'
import type { ScreenProps } from '../../screens.ts'
import { TEXT } from '../../text.ts'
import { Beside } from './Beside.tsx'
import { type WorkerRow, workerRows } from './rows.ts'
import { Stop } from './Stop.tsx'
import { text } from './text.ts'

export function Workers({ query }: ScreenProps) {
  const workers = useAnswer('/v1/workers').value?.workers
  const rows = useShared(workers && workerRows(workers))
  const [stopped, setStopped] = useState<WorkerRow>()
  const shown = query['worker']
  const close = () => router.amend({ worker: undefined })
  useKeys(shown === undefined ? [] : [{ keys: 'Escape', label: TEXT.actions.close, group: TEXT.keys.page, run: close }])
  return (
    <Page name="workers" title={TEXT.screens.workers} tools={rows !== undefined && <Sum rows={rows} />}>
      {rows?.length === 0 && <Empty icon="workers" title={text.empty.title} text={text.empty.text} />}
      {rows !== undefined && rows.length > 0 && (
        <div class={shown === undefined ? '' : 'cols'}>
          <List rows={rows} shown={shown} onStop={setStopped} />
          {shown !== undefined && <Beside id={shown} row={rows.find(({ id }) => id === shown)} onClose={close} onStop={setStopped} />}
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
  const { columns } = text
  const isAdmin = sessions.can('admin')
  return (
    <section class="card">
      <table class="list workers">
        <thead>
          <tr>
            <th class="queue">{columns.worker}</th>
            <th class="opt">{columns.host}</th>
            <th class="gauge-column">{columns.slots}</th>
            <th class="opt">{columns.names}</th>
            {shown === undefined && <th class="r opt">{columns.attached}</th>}
            <th class="r">{columns.seen}</th>
            {isAdmin && (
              <th class="fit">
                <span class="visually-hidden">{columns.actions}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.id} row={row} isShown={row.id === shown} isShort={shown !== undefined} isAdmin={isAdmin} onStop={onStop} />
          ))}
        </tbody>
      </table>
    </section>
  )
}

interface RowProps {
  readonly row: WorkerRow
  readonly isShown: boolean
  /** Set beside another card: there is room for less. */
  readonly isShort: boolean
  readonly isAdmin: boolean
  readonly onStop: (row: WorkerRow) => void
}

const Row = memo(function Row({ row, isShown, isShort, isAdmin, onStop }: RowProps) {
  const { id, host, pid, names, slots, taken, zombies, isAway, isStopping, attachedAt, seenAt } = row
  return (
    <tr aria-selected={isShown}>
      <td>
        <span class="inline">
          <a href={router.to('/workers', { worker: isShown ? undefined : id })} class="strong">
            {id}
          </a>
          {isAway && <span class="tag warn">{text.tags.away}</span>}
          {zombies > 0 && <span class="tag bad">{text.tags.zombies(zombies)}</span>}
          {isStopping && <span class="tag live">{text.tags.stopping}</span>}
        </span>
      </td>
      <td class="opt muted">{text.host(host, pid)}</td>
      <td>
        <span class="inline">
          <Gauge value={taken} limit={slots} tight={false} />
          <span class="muted">
            {taken} / {slots}
          </span>
        </span>
      </td>
      <td class="opt" title={names.join(', ')}>
        {names.join(', ')}
      </td>
      {!isShort && <td class="r opt muted">{attachedAt !== undefined && <Ago at={attachedAt} />}</td>}
      <td class={isAway ? 'r s-warn' : 'r muted'}>{seenAt !== undefined && <Ago at={seenAt} />}</td>
      {isAdmin && (
        <td class="fit">
          <button type="button" class="btn" disabled={isStopping} aria-label={`${text.stop} ${id}`} onClick={() => onStop(row)}>
            {text.stop}
          </button>
        </td>
      )}
    </tr>
  )
})

import { useMemo } from 'preact/hooks'
import { router } from '../../page.ts'
import { Table } from '../../parts/Table.tsx'
import { TEXT } from '../../text.ts'
import { queueColumns } from './queueColumns.tsx'
import type { QueueRow } from './queueRows.ts'

const { overview: text } = TEXT

export function QueueTable({ rows, period }: { readonly rows: readonly QueueRow[]; readonly period: string }) {
  const columns = useMemo(() => {
    const { name, waiting, net, running, trend, done, failed, oldest, actions } = queueColumns
    return [name, waiting, net(period), running, trend(period), done, failed(period), oldest, actions]
  }, [period])
  return (
    <section class="card">
      <header>
        <h2>{text.queues}</h2>
        <span class="tag">{text.worstFirst}</span>
        <div class="end">
          <a href={router.to('/queues')}>{text.allQueues}</a>
        </div>
      </header>
      <Table name="queues" rows={rows} columns={columns} keyOf={({ name }) => name} />
    </section>
  )
}

import { count } from '../../format/numbers.ts'
import { router } from '../../page.ts'
import { type Column, Table } from '../../parts/Table.tsx'
import { jobsLink } from '../../router/links.ts'
import { STATES, TEXT } from '../../text.ts'
import { NOTHING, queueColumns } from '../overview/queueColumns.tsx'
import type { ListRow } from './rows.ts'

const { name, waiting, running, trend, done, oldest, actions } = queueColumns

const jobs = (state: 'retrying' | 'failed', numberOf: (row: ListRow) => number, tone: string): Column<ListRow> => ({
  head: STATES[state],
  style: 'r opt',
  tone: (row) => (numberOf(row) === 0 ? 'faint' : tone),
  cell: (row) => (numberOf(row) === 0 ? NOTHING : <a href={router.to(jobsLink({ queue: row.name, state }))}>{count(numberOf(row))}</a>),
})

const COLUMNS: readonly Column<ListRow>[] = [
  ...[name, waiting, running],
  jobs('retrying', ({ retrying }) => retrying, ''),
  jobs('failed', ({ dead }) => dead, 's-failed'),
  ...[trend(TEXT.overview.ranges['1h']), done, oldest, actions],
]

export function QueueList({ rows }: { readonly rows: readonly ListRow[] }) {
  return (
    <section class="card">
      <Table name="queues" rows={rows} columns={COLUMNS} keyOf={({ name }) => name} />
    </section>
  )
}

/** The columns of `millrace top`: how each is sorted, and which are left out first on a narrow terminal. */
import type { Paint } from '../output/style.ts'
import type { Column } from '../output/table.ts'
import { type QueueRow, queueColumns } from '../view/queues.ts'

/** Returns the value that rows are compared by, for each column in its order. */
export const SORTED = {
  QUEUE: ({ name }: QueueRow) => name,
  SCHEDULED: ({ stats }: QueueRow) => stats.scheduled,
  WAITING: ({ stats }: QueueRow) => stats.waiting,
  ACTIVE: ({ stats }: QueueRow) => stats.active,
  BLOCKED: ({ stats }: QueueRow) => stats.blocked,
  COMPLETED: ({ stats }: QueueRow) => stats.completed,
  FAILED: ({ stats }: QueueRow) => stats.failed,
  CANCELLED: ({ stats }: QueueRow) => stats.cancelled,
  OLDEST: ({ stats }: QueueRow) => stats.oldestWaitingMs,
} as const satisfies Readonly<Record<string, (row: QueueRow) => string | number>>

export type ColumnName = keyof typeof SORTED

/** Left out in this order. The column that rows are sorted by stays. */
const SPARE: readonly ColumnName[] = ['BLOCKED', 'CANCELLED', 'SCHEDULED', 'COMPLETED', 'OLDEST']

/** Returns the columns without the first `fewer` spare ones. The column that rows are sorted by has an arrow. */
export function columnsOf(paint: Paint, sort: ColumnName, ascends: boolean, fewer: number): readonly Column<QueueRow>[] {
  const out: ReadonlySet<string> = new Set(SPARE.filter((name) => name !== sort).slice(0, fewer))
  return queueColumns(paint)
    .filter(({ title }) => !out.has(title))
    .map((column) => (column.title === sort ? { ...column, title: `${sort}${ascends ? '↑' : '↓'}` } : column))
}

export const SPARE_COLUMNS = SPARE.length

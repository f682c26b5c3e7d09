/** Queues for people. */
import type { QueueStats, Stats } from '@millrace/engine'
import { durationText } from '../output/amounts.ts'
import type { Paint } from '../output/style.ts'
import type { Column } from '../output/table.ts'
import { stateColumns } from './states.ts'

export interface QueueRow {
  readonly name: string
  readonly stats: QueueStats
}

export function queueRows({ queues }: Pick<Stats, 'queues'>): readonly QueueRow[] {
  return Object.entries(queues).map(([name, stats]) => ({ name, stats }))
}

export function queueColumns(paint: Paint): readonly Column<QueueRow>[] {
  return [
    { title: 'QUEUE', elastic: true, text: ({ name }) => name },
    ...stateColumns<QueueRow>(({ stats }) => stats),
    { title: 'OLDEST', text: ({ stats }) => (stats.oldestWaitingMs === 0 ? '-' : durationText(stats.oldestWaitingMs)), right: true },
    { title: '', text: ({ stats }) => (stats.paused ? paint('yellow', 'paused') : '') },
  ]
}

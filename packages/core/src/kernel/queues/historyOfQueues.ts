/** The history of all queues, in columns: the one reading of it, whichever thread it happens on. */
import type { HistoryCommand } from '../../observeCommands.ts'
import type { HistoryOfQueues } from '../../replies.ts'
import type { Totals } from '../../stats.ts'
import { HISTORY_UNITS, type HistorySpan, type QueueMinutes } from '../state/history.ts'
import type { Questions } from '../state/store.ts'

type Columns = Record<keyof Totals, number[]>

const TOTALS: readonly (keyof Totals)[] = ['enqueued', 'completed', 'failed', 'cancelled']

/** @param summed the number of queues that are added up: the busiest */
export function readHistories(store: Pick<Questions, 'histories'>, command: HistoryCommand, wall: number, summed: number): HistoryOfQueues {
  const { step, busiest = 0 } = command
  const span = spanOf(command, wall)
  const total = columnsOf(span)
  const queues: (Columns & { readonly name: string })[] = []
  const active = store.histories(span, summed, (queue) => {
    addTo(total, span, queue)
    if (queues.length === busiest) return
    const own = columnsOf(span)
    addTo(own, span, queue)
    queues.push({ name: queue.name, ...own })
  })
  return { from: span.from, step, total, queues, ...(active > summed && { queuesLeftOut: active - summed }) }
}

/** Returns what is kept of the time asked for, up to now. */
function spanOf({ step, from, to }: HistoryCommand, wall: number): HistorySpan {
  const { ms, keptMs, begin } = HISTORY_UNITS[step]
  const first = begin(Math.max(from, wall - keptMs))
  const end = begin(wall) + ms
  return { step, from: first, to: Math.max(first, to === undefined ? end : Math.min(begin(to), end)) }
}

function columnsOf({ step, from, to }: HistorySpan): Columns {
  const zeros = () => new Array<number>((to - from) / HISTORY_UNITS[step].ms).fill(0)
  return { enqueued: zeros(), completed: zeros(), failed: zeros(), cancelled: zeros() }
}

/** Adds the differences between the totals that are stored. */
function addTo(columns: Columns, { step, from, to }: HistorySpan, { minutes, totals }: QueueMinutes): void {
  const { ms } = HISTORY_UNITS[step]
  for (const [index, { at, totals: before }] of minutes.entries()) {
    if (at >= to) return
    const after = minutes[index + 1]?.totals ?? totals
    const place = (at - from) / ms
    for (const each of TOTALS) columns[each][place] = (columns[each][place] as number) + after[each] - before[each]
  }
}

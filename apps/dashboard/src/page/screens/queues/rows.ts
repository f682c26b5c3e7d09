/** The list of queues: worst first, all that fit, those with a text in their names. */
import type { QueueAnswer, QueuesHistory, StatsAnswer } from '../../api/answers.ts'
import { PERIODS } from '../overview/periods.ts'
import { failureProblems } from '../overview/problems/failures.ts'
import { queueProblems } from '../overview/problems/queues.ts'
import { type QueueRow, queueRows } from '../overview/queueRows.ts'

export interface ListRow extends QueueRow {
  readonly retrying: number
  /** Failed jobs that are kept. */
  readonly dead: number
}

interface Seen {
  readonly stats: StatsAnswer
  readonly queues: readonly QueueAnswer[]
  readonly recent: QueuesHistory | undefined
  readonly now: number
}

export interface List {
  readonly rows: readonly ListRow[]
  /** How many match, shown or not. */
  readonly matching: number
}

/** More rows than a person reads; the filter finds the others. */
const SHOWN = 200

export function listOf({ stats, queues, recent, now }: Seen, filter: string): List {
  const nothing = { failures: [], workers: [], schedules: [], crowdedSince: undefined }
  const inputs = { stats, queues, now, zone: 'utc', ...nothing } as const
  const problems = [...failureProblems(inputs), ...queueProblems(inputs)]
  const all = queueRows({ stats, queues, history: recent, recent, period: PERIODS['1h'], problems }, Number.POSITIVE_INFINITY)
  const wanted = filter.trim().toLowerCase()
  const matching = all.filter(({ name }) => name.toLowerCase().includes(wanted))
  const rows = matching.slice(0, SHOWN).map((row): ListRow => {
    const counts = stats.queues[row.name]
    return { ...row, retrying: counts?.retrying ?? 0, dead: counts?.failed ?? 0 }
  })
  return { rows, matching: matching.length }
}

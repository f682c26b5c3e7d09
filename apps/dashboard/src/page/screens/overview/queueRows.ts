/** The list of queues, worst first: those with problems, with the most jobs lost in the period, with the oldest jobs. */
import type { Columns, QueueAnswer, QueuesHistory, StatsAnswer } from '../../api/answers.ts'
import { own } from '../../api/own.ts'
import { grouped, sum } from '../../chart/paths.ts'
import { duration } from '../../format/durations.ts'
import { count } from '../../format/numbers.ts'
import { TEXT } from '../../text.ts'
import type { Period } from './periods.ts'
import type { Problem, Severity } from './problems/problem.ts'
import { donePerSecond } from './throughput.ts'

interface QueueTag {
  readonly text: string
  readonly tone: '' | Severity
}

export interface QueueRow {
  readonly name: string
  readonly tags: readonly QueueTag[]
  readonly paused: boolean
  readonly waiting: number
  readonly active: number
  readonly limit: number | undefined
  /** All slots are taken while jobs wait. */
  readonly isTight: boolean
  /** How many more jobs were enqueued than ended in the period; undefined if the history does not tell of the queue. */
  readonly net: number | undefined
  readonly spark: { readonly completed: readonly number[]; readonly failed: readonly number[] } | undefined
  readonly failed: number | undefined
  readonly donePerSecond: number
  readonly oldestWaitingMs: number
  /** The worst problem of the queue. */
  readonly severity: Severity | undefined
  /** The worst problem of its jobs that wait. */
  readonly waits: Severity | undefined
}

export interface Seen {
  readonly stats: StatsAnswer
  readonly queues: readonly QueueAnswer[]
  /** The history of the period that is shown. */
  readonly history: QueuesHistory | undefined
  /** The history of the last hour, by minutes. */
  readonly recent: QueuesHistory | undefined
  readonly period: Period
  readonly problems: readonly Problem[]
}

export function queueRows(seen: Seen, most: number): readonly QueueRow[] {
  const settings = new Map(seen.queues.map((queue) => [queue.name, queue.settings]))
  const rows = Object.keys(seen.stats.queues).map((name) => rowOf(name, settings.get(name), seen))
  return rows.toSorted(worstFirst).slice(0, most)
}

const WEIGHT = { bad: 2, warn: 1 }
const weightOf = ({ severity }: QueueRow) => (severity === undefined ? 0 : WEIGHT[severity])

function worstFirst(a: QueueRow, b: QueueRow): number {
  const byAge = () => b.oldestWaitingMs - a.oldestWaitingMs
  const byLoss = () => Number(a.paused) - Number(b.paused) || (b.failed ?? 0) - (a.failed ?? 0)
  return (
    weightOf(b) - weightOf(a) ||
    byLoss() ||
    byAge() ||
    b.waiting - a.waiting ||
    b.donePerSecond - a.donePerSecond ||
    (a.name < b.name ? -1 : 1)
  )
}

function rowOf(name: string, settings: QueueAnswer['settings'] | undefined, seen: Seen): QueueRow {
  const { waiting, active, paused, oldestWaitingMs } = seen.stats.queues[name] as StatsAnswer['queues'][string]
  const columns = own(seen.history?.queues, name)
  const limit = settings?.concurrencyLimit
  return {
    name,
    paused,
    waiting,
    active,
    limit,
    oldestWaitingMs,
    tags: tagsOf(name, paused, settings, seen.stats),
    isTight: limit !== undefined && active >= limit && waiting > 0,
    net: columns && netOf(columns),
    spark: columns && sparkOf(columns, seen.period.sparkSteps),
    failed: columns && sum(columns.failed),
    donePerSecond: donePerSecond(own(seen.recent?.queues, name)),
    severity: worstOf(seen.problems.filter(({ queue }) => queue === name)),
    waits: worstOf(seen.problems.filter(({ queue, waits }) => queue === name && waits !== undefined)),
  }
}

/** How many more jobs were enqueued than ended. */
export function netOf({ enqueued, completed, failed, cancelled }: Columns): number {
  return sum(enqueued) - sum(completed) - sum(failed) - sum(cancelled)
}

function sparkOf({ completed, failed }: Columns, steps: number): QueueRow['spark'] {
  return { completed: grouped(completed, steps), failed: grouped(failed, steps) }
}

function worstOf(problems: readonly Problem[]): Severity | undefined {
  const severities = problems.map(({ severity }) => severity)
  return severities.includes('bad') ? 'bad' : severities[0]
}

function tagsOf(
  name: string,
  paused: boolean,
  settings: QueueAnswer['settings'] | undefined,
  { unserved }: StatsAnswer,
): readonly QueueTag[] {
  const { tags } = TEXT.overview
  const nobody = unserved.filter(({ queue }) => queue === name)
  const [first] = nobody
  return [
    ...(paused ? [{ text: tags.paused, tone: 'warn' } as const] : []),
    ...(settings?.draining ? [{ text: tags.draining, tone: 'warn' } as const] : []),
    ...(first === undefined ? [] : [{ text: tags.unserved(first.name, nobody.length - 1), tone: 'bad' } as const]),
    ...(settings?.perKeyLimit === undefined ? [] : [{ text: tags.perKey(settings.perKeyLimit), tone: '' } as const]),
    ...(settings?.rateLimit === undefined ? [] : [{ text: rateText(settings.rateLimit), tone: '' } as const]),
  ]
}

/** "200 per s", "5 per 10 s". */
export function rateText({ limit, period }: { readonly limit: number; readonly period: number }): string {
  return TEXT.overview.tags.rate(count(limit), period === 1_000 ? 's' : duration(period))
}

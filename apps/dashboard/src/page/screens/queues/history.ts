/** The history of one queue in columns, as the charts take it. */
import type { Columns, QueuesHistory } from '../../api/answers.ts'

export interface Point {
  readonly at: string
  readonly enqueued: number
  readonly completed: number
  readonly failed: number
  readonly cancelled: number
}

const MINUTE_MS = 60_000
const MINUTES = 60
const NAMES = ['enqueued', 'completed', 'failed', 'cancelled'] as const

/** Returns the last hour up to the minute of `now`: the answer leaves out minutes in which nothing happened. */
export function lastHourOf(points: readonly Point[], now: number): QueuesHistory {
  const last = Math.floor(now / MINUTE_MS)
  const from = last - MINUTES
  const byMinute = new Map(points.map((point) => [Math.floor(Date.parse(point.at) / MINUTE_MS), point]))
  const column = (name: (typeof NAMES)[number]) =>
    Array.from({ length: MINUTES + 1 }, (_, place) => byMinute.get(from + place)?.[name] ?? 0)
  const total = Object.fromEntries(NAMES.map((name) => [name, column(name)])) as unknown as Columns
  return { from: new Date(from * MINUTE_MS).toISOString(), step: 'minute', total, queues: {} }
}

const RATE_MINUTES = 5

/** Jobs per second that ended in any way, over the last five whole minutes. */
export function endedPerSecond({ completed, failed, cancelled }: Columns): number {
  const ended = [completed, failed, cancelled].map((values) =>
    values.slice(-RATE_MINUTES - 1, -1).reduce((total, value) => total + value, 0),
  )
  return ended.reduce((total, value) => total + value, 0) / (RATE_MINUTES * 60)
}

/** Jobs per minute: the columns of the large chart, and what is read out of them. */
import type { Columns, QueuesHistory } from '../../api/answers.ts'
import { grouped } from '../../chart/paths.ts'
import { type Period, STEP_MS } from './periods.ts'

export interface Throughput {
  /** When the first column begins. */
  readonly from: number
  readonly columnMs: number
  /** Jobs per minute by column. */
  readonly enqueued: readonly number[]
  readonly completed: readonly number[]
  readonly failed: readonly number[]
}

const MINUTE_MS = 60_000

/**
 * Returns the columns of a period. A step that has hardly begun is left out: its few jobs would look like a fall. Where the last column
 * is not over yet, its jobs are per minute of the time that has passed.
 */
export function throughputOf({ from, total }: QueuesHistory, { step, chartSteps }: Period, now: number): Throughput {
  const stepMs = STEP_MS[step]
  const start = Date.parse(from)
  const steps = total.enqueued.length
  const begun = now - (start + (steps - 1) * stepMs) < MINUTE_MS ? steps - 1 : steps
  const columnMs = stepMs * chartSteps
  const perMinute = (values: readonly number[]) =>
    grouped(values.slice(0, begun), chartSteps).map((value, place) => value / minutesOf(start + place * columnMs, columnMs, now))
  const { enqueued, completed, failed } = total
  return { from: start, columnMs, enqueued: perMinute(enqueued), completed: perMinute(completed), failed: perMinute(failed) }
}

/** How much of a column has passed, in minutes: whole minutes, because the one that has begun is left out. */
function minutesOf(start: number, columnMs: number, now: number): number {
  const passed = Math.min(columnMs, Math.floor(Math.max(0, now - start) / MINUTE_MS) * MINUTE_MS)
  return Math.max(1, passed / MINUTE_MS)
}

export function largestOf({ enqueued, completed, failed }: Throughput): number {
  const heights = completed.map((value, place) => value + (failed[place] ?? 0))
  return Math.max(0, ...heights, ...enqueued)
}

export function isIdle({ enqueued, completed, failed }: Throughput): boolean {
  return [enqueued, completed, failed].every((values) => values.every((value) => value === 0))
}

export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((total, value) => total + value, 0) / values.length
}

const RATE_STEPS = 5

/** Jobs that completed per second, over the last five whole minutes of a history by minutes. */
export function donePerSecond(columns: Columns | undefined): number {
  const recent = columns?.completed.slice(-RATE_STEPS - 1, -1) ?? []
  return recent.length === 0 ? 0 : mean(recent) / 60
}

/**
 * The history of queues. The totals of a queue are stored as they were before the first turn of each minute that counted something. The
 * activity of a minute is the difference to the next stored totals, or to the present ones. So a minute is one row, written once, and
 * an hour is the row of its first minute.
 */
import type { LaneTotals, Queue } from './queues/lane.ts'

export const MINUTE_MS = 60_000

export const HOUR_MS = 3_600_000

/** The totals of a queue before a minute's first turn. */
export interface MinuteNote {
  readonly queue: Queue
  /** When the minute began. */
  readonly at: number
  /** When the last one began that was noted before; 0 for none. Later than `at` where the wall clock went back. */
  readonly before: number
  readonly totals: LaneTotals
}

export function minuteOf(at: number): number {
  return at - (at % MINUTE_MS)
}

export function hourOf(at: number): number {
  return at - (at % HOUR_MS)
}

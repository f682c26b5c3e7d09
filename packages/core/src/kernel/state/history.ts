/**
 * The history of queues. The totals of a queue are stored as they were before the first turn of each minute that counted something. The
 * activity of a minute is the difference to the next stored totals, or to the present ones. So a minute is one row, written once, and
 * an hour is the row of its first minute.
 */
import { LIMITS } from '../../limits.ts'
import type { HistoryStep } from '../../observeCommands.ts'
import type { LaneTotals, Queue } from '../records/lane.ts'

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

/** A queue's totals before a minute, or an hour. */
export interface MinuteRow {
  readonly at: number
  readonly totals: LaneTotals
}

/** Minutes, or hours, in a row: from the beginning of the first to the end of the last. */
export interface HistorySpan {
  readonly step: HistoryStep
  readonly from: number
  readonly to: number
}

/** A queue with its minutes, or hours, from the beginning of a span on, and its totals now. */
export interface QueueMinutes {
  readonly name: string
  readonly minutes: readonly MinuteRow[]
  readonly totals: LaneTotals
}

export function minuteOf(at: number): number {
  return at - (at % MINUTE_MS)
}

export function hourOf(at: number): number {
  return at - (at % HOUR_MS)
}

/** How long the steps of history are, where they begin, and how long they are kept. */
export const HISTORY_UNITS: {
  readonly [Step in HistoryStep]: { readonly ms: number; readonly keptMs: number; begin(at: number): number }
} = {
  minute: { ms: MINUTE_MS, keptMs: LIMITS.historyMinutesMs, begin: minuteOf },
  hour: { ms: HOUR_MS, keptMs: LIMITS.historyHoursMs, begin: hourOf },
}

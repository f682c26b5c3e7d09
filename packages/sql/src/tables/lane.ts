/** Table `lane`: its counters. */
import type { Lane } from '@millrace/core/kernel'
import type { SqlValue } from '../value.ts'

export const COUNTERS = [
  'scheduled',
  'waiting',
  'active',
  'blocked',
  'completed',
  'failed',
  'cancelled',
  'total_enqueued',
  'total_completed',
  'total_failed',
  'total_cancelled',
  'retrying',
] as const

export function countersOf(lane: Lane): SqlValue[] {
  const values: SqlValue[] = Array(COUNTERS.length).fill(0)
  countersInto(lane, values)
  return values
}

export function countersInto({ counts, totals, retrying }: Lane, values: SqlValue[]): void {
  for (let state = 0; state < 7; state++) values[state] = counts[state] as number
  values[7] = totals.enqueued
  values[8] = totals.completed
  values[9] = totals.failed
  values[10] = totals.cancelled
  values[11] = retrying
}

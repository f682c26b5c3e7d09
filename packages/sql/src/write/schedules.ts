/** Makes schedules into rows. */
import type { Schedule } from '@millrace/core/kernel'
import type { SqlValue } from '../value.ts'

/** The columns that move with every tick. */
export const MOVING = [
  'next_at',
  'fire_at',
  'last_at',
  'held',
  'paused',
  'behind',
  'fired',
  'skipped',
  'job_seq',
  'job_node',
  'job_enqueued_at',
] as const

export const CHANGING = [...MOVING, 'spec', 'name', 'options', 'data', 'anchor', 'updated_at'] as const
export function movingOf({ nextAt, fireAt, lastAt, held, paused, behind, fired, skipped, last }: Schedule): SqlValue[] {
  const job = [last?.seq ?? null, last?.node ?? null, last?.enqueuedAt ?? null]
  return [timeOf(nextAt), timeOf(fireAt), timeOf(lastAt), held ? 1 : 0, paused ? 1 : 0, behind, fired, skipped, ...job]
}

export function restOf({ spec, job: { name, data, ...options }, anchor, updatedAt }: Schedule): SqlValue[] {
  return [JSON.stringify(spec), name, JSON.stringify(options), data, anchor, updatedAt]
}

function timeOf(ms: number): number | null {
  return ms === 0 ? null : ms
}

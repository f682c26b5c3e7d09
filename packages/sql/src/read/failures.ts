/** Makes rows into failures by their kind. */
import type { FailureRow } from '@millrace/core/kernel'
import { hoursFrom } from '../tables/failure.ts'

export type RawFailure = [
  laneId: number,
  fingerprint: number,
  error: string,
  count: number,
  firstAt: number,
  lastAt: number,
  hours: string,
  seq: number | null,
  node: number,
  enqueuedAt: number,
  message: string | null,
]

export function failureFrom([
  laneId,
  fingerprint,
  error,
  count,
  firstAt,
  lastAt,
  hours,
  seq,
  node,
  enqueuedAt,
  message,
]: RawFailure): FailureRow {
  const job = seq === null ? undefined : { seq, node, enqueuedAt }
  return { laneId, fingerprint, error, count, firstAt, lastAt, hours: hoursFrom(hours), job, message: message ?? undefined }
}

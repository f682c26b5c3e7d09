/** Reads how long idempotency keys are kept. */
import type { Prepare } from '../query.ts'

/** Returns an SQL condition: true while a job lives that keeps the key of that row past its time. */
export function isKept(row: string): string {
  return `EXISTS (SELECT 1 FROM job WHERE job.seq BETWEEN ${row}.seq AND ${row}.last AND job.state < 4)`
}

/** Returns the time at which the first key expires and must be checked, from one end of the index. */
export function prepareKeyExpiry(prepare: Prepare): () => number {
  const first = prepare<[at: number | null]>('SELECT min(expires_at) FROM idempotency')
  return () => first.get()?.[0] ?? 0
}

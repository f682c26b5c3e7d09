/** What does a payload cost on the caller's thread, and a batch of them through structured clone? */
import { encodeData, type NewJob, newJobFrom } from '@millrace/core'
import type { Bench } from 'tinybench'
import { PAYLOAD } from '../payload.ts'

const MAX_BYTES = 2 ** 20

export function encoding(bench: Bench): void {
  bench.add('a job of 120 bytes, encoded', () => void newJobFrom('noop', encodeData('data', PAYLOAD, MAX_BYTES), undefined, undefined))
  const jobs = Array.from({ length: 200 }, (): NewJob => newJobFrom('noop', encodeData('data', PAYLOAD, MAX_BYTES), undefined, undefined))
  bench.add('200 jobs cloned as objects', () => void structuredClone(jobs))
  const flat = jobs.flatMap((job, id) => [1, id, job.name, job.data, undefined])
  bench.add('200 jobs cloned as one flat array', () => void structuredClone(flat))
}

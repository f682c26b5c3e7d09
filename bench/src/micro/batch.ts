/** What does it cost to send a batch of jobs to another thread, as objects and as one flat array? */
import { encodeData, type NewJob, newJobFrom } from '@millrace/core'
import type { Bench } from 'tinybench'
import { payloadOf } from '../payload.ts'

const MAX_BYTES = 2 ** 20
const JOBS = 200

export function batch(bench: Bench): void {
  const jobOf = (index: number): NewJob => newJobFrom('noop', encodeData('data', payloadOf(index), MAX_BYTES), undefined, undefined)
  const jobs = Array.from({ length: JOBS }, (_, index) => jobOf(index))
  bench.add(`${JOBS} jobs cloned as objects`, () => void structuredClone(jobs))
  const flat = jobs.flatMap((job, id) => [1, id, job.name, job.data, undefined])
  bench.add(`${JOBS} jobs cloned as one flat array`, () => void structuredClone(flat))
}

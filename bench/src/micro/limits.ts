/** What do limits cost? The whole lives of jobs: without any, with one that is never met, and with keys that are held back. */
import type { Command, QueueChanges } from '@millrace/core'
import type { Bench } from 'tinybench'
import { JOB, makeLives } from './lives.ts'
import { JOBS } from './turns.ts'

export function limits(bench: Bench): void {
  const plain: Command = { op: 'enqueue', jobs: Array.from({ length: JOBS }, () => JOB) }
  const keyed: Command = {
    op: 'enqueue',
    jobs: Array.from({ length: JOBS }, (_, index) => ({ ...JOB, concurrencyKey: `key-${index % 20}` })),
  }
  const told = (changes: QueueChanges) => makeLives({ op: 'configure', queue: 'default', changes })
  const without = makeLives()
  const limited = told({ concurrencyLimit: 1_000_000 })
  const rated = told({ rateLimit: { limit: 1_000_000_000, period: 1, burst: 1_000_000_000 } })
  const wide = told({ perKeyLimit: 1_000_000 })
  const narrow = told({ perKeyLimit: 2 })
  const keysRated = told({ perKeyRateLimit: { limit: 1_000_000_000, period: 1, burst: 1_000_000_000 } })
  const strict = told({ keyOrder: 'strict' })
  bench.add(`${JOBS} plain jobs`, () => without(plain))
  bench.add(`${JOBS} jobs in a queue with a limit`, () => limited(plain))
  bench.add(`${JOBS} jobs in a queue with a rate`, () => rated(plain))
  bench.add(`${JOBS} jobs of 20 keys, in a queue that limits none`, () => without(keyed))
  bench.add(`${JOBS} jobs of 20 keys, with a limit that is not met`, () => wide(keyed))
  bench.add(`${JOBS} jobs of 20 keys, with a rate for each that is not met`, () => keysRated(keyed))
  bench.add(`${JOBS} jobs of 20 keys, two of each at a time`, () => narrow(keyed))
  bench.add(`${JOBS} jobs of 20 keys, in strict order`, () => strict(keyed))
}

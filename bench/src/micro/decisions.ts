/** What does it cost to decide the life of a job (enqueued, handed out, completed), without disk or threads? */
import { type Command, DEFAULT_RETENTION, encodeData, mayMove, newJobFrom } from '@millrace/core'
import type { Bench } from 'tinybench'
import { payloadOf } from '../payload.ts'
import { emptyStore } from './emptyStore.ts'
import { JOBS, makeTurns } from './turns.ts'

const MAX_BYTES = 2 ** 20

export function decisions(bench: Bench): void {
  bench.add('a transition held against the lifecycle', () => void mayMove('complete', 2, 4))

  const { take } = makeTurns(() => emptyStore, DEFAULT_RETENTION)
  const job = newJobFrom('noop', encodeData('data', payloadOf(1), MAX_BYTES), undefined, undefined)
  const enqueues = Array.from({ length: JOBS }, (): Command => ({ op: 'enqueue', jobs: [job] }))
  bench.add(`${JOBS} jobs: a turn that enqueues and hands out, one that completes`, () => {
    const granted = take(enqueues).grants
    if (granted.length !== JOBS) throw new Error(`${granted.length} of ${JOBS} jobs were handed out`)
    take(granted.map(({ seq, run }): Command => ({ op: 'complete', seq, run, output: null })))
  })
}

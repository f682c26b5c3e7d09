/** Adds jobs that a test of others must not change. */
import { expect } from 'vitest'
import { plain } from './image.ts'
import type { StoreTurns } from './storeTurns.ts'

/** Adds a job in each state, which no test of another job may change. Returns a check that they are as they were. */
export function standBy(turns: StoreTurns): () => void {
  turns.attach('bystander', ['stand'])
  const options = { queue: 'by', tags: ['t'], data: '"by"', maxAttempts: 1 }
  const stand = { ...options, name: 'stand' }
  const [done, failed, asleep, , messaged] = turns.enqueueAll(stand, stand, stand, stand, stand)
  turns.run({ op: 'log', seq: done.seq, run: 1, lines: [{ at: 1, level: 'info', message: 'by' }] })
  const step = { op: 'step', run: 1, asked: 1, name: 's', kind: 'step', startedAt: 1, value: '"by"' } as const
  turns.run({ ...step, seq: done.seq, number: 1 }, { ...step, seq: asleep.seq, number: 1 }, { ...step, seq: asleep.seq, number: 2 })
  turns.run({ op: 'wait', seq: asleep.seq, run: 1, settled: 2, waits: [{ name: 'w', asked: 3, delay: 1e9 }], end: true })
  turns.run({ op: 'wait', seq: messaged.seq, run: 1, settled: 0, waits: [{ name: 'go', asked: 1, message: 'go' }], end: true })
  for (const job of [asleep, messaged]) turns.run({ op: 'send', id: turns.keyOf(job), name: 'other', value: '"by"' })
  turns.complete(done, '"done"')
  turns.fail(failed)
  turns.enqueueAll(
    { ...options, name: 'wait' },
    { ...options, name: 'wait', unique: { key: 'by', onConflict: 'error' }, ttl: 1e9 },
    { ...options, name: 'stand', delay: 1e9 },
  )
  turns.cancel(turns.enqueue('wait', options))
  const ours = () => {
    const rows = turns.rows().filter(({ laneId }) => turns.tables.lanesById.get(laneId)?.queue.name === 'by')
    return plain({
      rows,
      attempts: turns.store.attempts(rows),
      steps: rows.map(({ seq }) => [turns.store.steps(seq, 0, 9, 1e6), turns.store.messages(seq, undefined, 9, 1e6)]),
    })
  }
  const before = ours()
  return () => expect(ours()).toEqual(before)
}

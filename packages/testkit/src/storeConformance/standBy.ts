/** Adds jobs that a test of others must not change. */
import { expect } from 'vitest'
import { plain } from './image.ts'
import type { StoreTurns } from './storeTurns.ts'

/** Adds a job in each state, which no test of another job may change. Returns a check that they are as they were. */
export function standBy(turns: StoreTurns): () => void {
  turns.attach('bystander', ['stand'])
  const options = { queue: 'by', tags: ['t'], data: '"by"', maxAttempts: 1 }
  const [done, failed] = turns.enqueueAll({ ...options, name: 'stand' }, { ...options, name: 'stand' }, { ...options, name: 'stand' })
  turns.run({ op: 'log', seq: done.seq, run: 1, lines: [{ at: 1, level: 'info', message: 'by' }] })
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
    return plain({ rows, attempts: turns.store.attempts(rows) })
  }
  const before = ours()
  return () => expect(ours()).toEqual(before)
}

// A schema that was emptied is as a new one.
import { openStore } from '@millrace/postgres'
import pg from 'pg'
import { expect, onTestFinished } from 'vitest'
import { attaching, StoreTurns } from '../../packages/testkit/src/storeConformance/storeTurns.ts'
import { keptBridge } from './keptBridge.ts'
import { contentsOf, keptSchema } from './keptSchema.ts'
import { storeOptions, type TestSchema, test } from './test.ts'

const open = (schema: TestSchema) => new StoreTurns(openStore(storeOptions(schema), undefined, keptBridge))

/** Writes to as many tables as a few turns can. */
async function use(schema: TestSchema): Promise<void> {
  const turns = open(schema)
  turns.enqueue('a', {
    tags: ['x'],
    keep: 5,
    idempotencyKey: 'i',
    unique: { key: 'u', onConflict: 'skip' },
    queue: 'q',
    concurrencyKey: 'c',
  })
  turns.enqueue('a', { delay: 50, ttl: 1_000 })
  turns.flow([{}, { parents: [0] }])
  turns.call({ op: 'pause', queue: 'q', paused: true, for: 1_000 })
  turns.call({ op: 'configure', queue: 'q', changes: { perKeyLimit: 1, rateLimit: { limit: 1, period: 50, burst: 1 } } })
  for (const { seq, run } of turns.run(attaching('w', ['a'])).grants) turns.run({ op: 'complete', seq, run, output: null })
  turns.store.close()
  const client = new pg.Client({ connectionString: schema.url })
  onTestFinished(() => client.end())
  await client.connect()
  await client.query(`SELECT ${schema.schema}.enqueue('a', '1')`)
}

test('a schema that was used and emptied has the rows of a new one, also once it is opened', async ({ postgres, skip }) => {
  const kept = keptSchema({ skip })
  await use(kept)
  const used = contentsOf(kept)
  expect(Object.values(used).filter((rows) => (rows as unknown[]).length > 0).length).toBeGreaterThan(15)
  keptSchema({ skip })
  for (const schema of [kept, postgres]) open(schema).store.close()
  const [emptied, fresh] = [contentsOf(kept), contentsOf(postgres)]
  expect(emptied).toEqual(fresh)
  expect(emptied).not.toEqual(used)
})

test('a line that a store has left serves the next one', ({ skip }) => {
  const kept = keptSchema({ skip })
  const first = open(kept)
  expect(() => open(kept)).toThrow('another process owns')
  first.enqueue('a')
  first.store.close()
  const next = open(kept)
  expect(next.rows()).toHaveLength(1)
  next.store.close()
})

// A transaction that stays open keeps the server from removing dead rows: a lane gets few, and retention does not pass over them again.
import { openStore } from '@millrace/postgres'
import pg from 'pg'
import { expect, onTestFinished } from 'vitest'
import { StoreTurns } from '../../packages/testkit/src/storeConformance/storeTurns.ts'
import { storeOptions, type TestSchema, test } from './test.ts'

const ROUNDS = 60

async function connect({ url, schema }: TestSchema): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query(`SET search_path TO "${schema}"`)
  return client
}

/** Enqueues a job and cancels it. */
function pass(turns: StoreTurns): void {
  turns.call({ op: 'cancel', id: turns.enqueue('a') })
}

test('counters are folded once for many turns, and retention begins where it ended', async ({ postgres }) => {
  const turns = new StoreTurns(openStore(storeOptions(postgres)))
  const bystander = turns.row(turns.enqueue('by'))
  pass(turns)
  const holder = await connect(postgres)
  await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  await holder.query('SELECT count(*) FROM job')
  for (let round = 0; round < ROUNDS; round++) {
    pass(turns)
    turns.prune({ cancelled: { ageMs: 1e9, count: 1 } })
  }
  // Its session counts in the end, at the latest.
  turns.store.close()
  const client = await connect(postgres)
  const numberOf = async (text: string) => Number((await client.query<{ number: string }>(text)).rows[0]?.number)
  await expect
    .poll(() => numberOf(`SELECT n_tup_del AS number FROM pg_stat_user_tables WHERE schemaname = '${postgres.schema}' AND relname = 'job'`))
    .toBe(ROUNDS)
  const updates = `SELECT n_tup_upd AS number FROM pg_stat_user_tables WHERE schemaname = '${postgres.schema}' AND relname = 'lane'`
  expect(await numberOf(updates)).toBe(0)
  const reads = `SELECT idx_tup_read AS number FROM pg_stat_user_indexes WHERE schemaname = '${postgres.schema}' AND indexrelname = 'finished_pkey'`
  // 5,600 if each begins at the start of the index.
  expect(await numberOf(reads)).toBeLessThan(10 * ROUNDS)
  const again = new StoreTurns(openStore(storeOptions(postgres)))
  expect(again.rows()).toContainEqual(bystander)
})

test('counters are right in their lanes once the schema is claimed, and once the journal forgets them', async ({ postgres }) => {
  const turns = new StoreTurns(openStore(storeOptions(postgres)))
  const client = await connect(postgres)
  const lanes = async () =>
    (await client.query({ text: 'SELECT name, total_cancelled::int FROM lane ORDER BY name', rowMode: 'array' })).rows
  turns.enqueue('by')
  for (let count = 0; count < 3; count++) pass(turns)
  expect(await lanes()).toEqual([
    ['a', 0],
    ['by', 0],
  ])
  turns.store.reopen()
  expect(await lanes()).toContainEqual(['a', 3])
  pass(turns)
  expect(await lanes()).toContainEqual(['a', 3])
  const last = turns.tables.nextEvent - 1
  turns.addEffects = (effects) => {
    effects.forgetEventsBefore = last
  }
  turns.turn()
  expect((await client.query('SELECT turn FROM journal WHERE count > 0')).rowCount).toBe(0)
  expect(await lanes()).toContainEqual(['a', 4])
  pass(turns)
  turns.store.close()
  turns.store = openStore(storeOptions(postgres))
  turns.reload()
  turns.audit()
})

test('counters are folded once 5,000 of lanes stand in the journal', async ({ postgres }) => {
  const turns = new StoreTurns(openStore(storeOptions(postgres)))
  const client = await connect(postgres)
  const unfolded = async () => (await client.query('SELECT id FROM unfolded')).rowCount
  const names = Array.from({ length: 2_400 }, (_, index) => ({ name: `a${index}` }))
  for (const waiting of [1, 2, 3]) {
    turns.enqueueAll(...names)
    expect((await client.query('SELECT 1 FROM lane WHERE waiting = $1', [waiting === 3 ? 3 : 1])).rowCount).toBe(names.length)
  }
  expect(await unfolded()).toBe(0)
  turns.enqueue('a1')
  expect(await unfolded()).toBe(1)
})

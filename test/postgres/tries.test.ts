// Entries of the inbox that take their owners with them: each owner here is gone before it has decided what it has read.
import { openStore } from '@millrace/postgres'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { keptBridge } from './keptBridge.ts'
import { keptSchema } from './keptSchema.ts'
import { storeOptions, type TestSchema } from './test.ts'

async function connect({ url, schema }: TestSchema): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query(`SET search_path TO "${schema}"`)
  return client
}

async function enqueue(client: pg.Client, data: string): Promise<void> {
  await client.query("SELECT enqueue('a', to_jsonb($1::text))", [data])
}

/** The next owner, which has read nothing yet. */
const owner = (postgres: TestSchema) => {
  const store = openStore(storeOptions(postgres), undefined, keptBridge)
  onTestFinished(() => store.close())
  return store
}
const tries = async (client: pg.Client) =>
  (await client.query('SELECT id::int, tries FROM inbox ORDER BY id')).rows.map(({ tries }) => tries)

test('an entry is tried alone after it has taken an owner with it, and set aside unread after two; the others become jobs', async ({
  skip,
}) => {
  const postgres = keptSchema({ skip })
  const client = await connect(postgres)
  for (const data of ['first', 'deadly', 'last']) await enqueue(client, data)
  const ids = (await client.query('SELECT id::int FROM inbox ORDER BY id')).rows.map(({ id }) => id as number)
  // Each of these owners is gone before it has decided what it has read.
  const first = owner(postgres)
  expect(first.inbox([]).map(({ id }) => id)).toEqual(ids)
  expect(await tries(client)).toEqual([1, 1, 1])
  first.close()
  const second = owner(postgres)
  expect(second.inbox([]).map(({ id }) => id)).toEqual([ids[0]])
  await client.query('DELETE FROM inbox WHERE id = $1', [ids[0]])
  expect(second.inbox([]).map(({ id, unfit }) => [id, unfit])).toEqual([[ids[1], undefined]])
  expect(await tries(client)).toEqual([2, 1])
  second.close()
  const third = owner(postgres)
  const unread = third.inbox([])
  expect(unread).toEqual([
    expect.objectContaining({
      id: ids[1],
      data: null,
      options: '{}',
      unfit: { code: 'TOO_LARGE', message: expect.stringContaining('set aside unread') },
    }),
  ])
  // A turn that could not be written changes nothing of that.
  expect(third.inbox([])).toEqual(unread)
  expect(third.inbox([ids[1] as number]).map(({ data, unfit }) => [data, unfit])).toEqual([['"last"', undefined]])
  third.close()
})

test('an entry that waits for room, or that comes while an owner lives, is not counted', async ({ skip }) => {
  const postgres = keptSchema({ skip })
  const client = await connect(postgres)
  await enqueue(client, 'waits')
  for (let owners = 0; owners < 3; owners++) {
    const store = owner(postgres)
    // Read twice: it has had its turn in between, and was left.
    for (let look = 0; look < 2; look++) expect(store.inbox([]).map(({ data, unfit }) => [data, unfit])).toEqual([['"waits"', undefined]])
    expect(await tries(client)).toEqual([0])
    store.close()
  }
  const store = owner(postgres)
  store.inbox([])
  await enqueue(client, 'live')
  expect(store.inbox([])).toHaveLength(2)
  expect(await tries(client)).toEqual([0, 0])
  store.close()
})

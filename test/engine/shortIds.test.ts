/** A job is found by its short id, which lists show: in searches, and where one job is read. */
import { createHttp } from '@millrace/http'
import { createTestEngine } from '@millrace/testkit'
import { expect, test } from 'vitest'

const TOKEN = 'test-token-0123456789abcdef'
const shortOf = (id: string) => `${id.slice(9, 13)}-${id.slice(24, 30)}`

test('a search and a get find a job by its short id in any case, and no other', async () => {
  await using t = createTestEngine()
  const ids: string[] = []
  for (let number = 0; number < 60; number++) {
    ids.push((await t.engine.enqueue(number % 2 === 0 ? 'even' : 'odd', { number }, { queue: `q${number % 3}` })).id)
    await t.advance(7)
  }
  for (const id of [ids[0], ids[31], ids[59]] as string[]) {
    for (const text of [shortOf(id), shortOf(id).toUpperCase()]) {
      expect(await t.engine.get(text)).toMatchObject({ id })
      const page = await t.engine.list({ search: text, limit: 5 })
      expect(page).toMatchObject({ jobs: [{ id }], next: undefined })
    }
  }
  const [id = ''] = ids
  for (const order of ['newest', 'oldest'] as const) expect((await t.engine.list({ search: shortOf(id), order })).jobs).toHaveLength(1)
  expect((await t.engine.list({ search: shortOf(id), name: 'odd' })).jobs).toEqual([])
  expect((await t.engine.list({ search: shortOf(id), name: 'even', queue: 'q0' })).jobs).toHaveLength(1)
  expect(await t.engine.get(`0000${shortOf(id).slice(4)}`)).toBeUndefined()
  expect(await t.engine.get('ffff-ffffff')).toBeUndefined()
})

test('a text that looks like a short id, and is none, is searched for as any other', async () => {
  await using t = createTestEngine()
  const { id } = await t.engine.enqueue('order', { number: '7c60-0127d5' })
  expect((await t.engine.list({ search: '7c60-0127d5' })).jobs).toMatchObject([{ id }])
  expect((await t.engine.list({ search: '7c60-0127d6' })).jobs).toEqual([])
})

test('over HTTP too: one job, and the list', async () => {
  await using t = createTestEngine()
  const { id } = await t.engine.enqueue('mail')
  const { fetch } = createHttp(t.engine, { token: TOKEN })
  const get = async (path: string) =>
    (await fetch(new Request(`http://localhost/v1/jobs${path}`, { headers: { authorization: `Bearer ${TOKEN}` } }))).json()
  expect(await get(`/${shortOf(id)}`)).toMatchObject({ id })
  expect(await get(`/${shortOf(id)}/explain`)).toMatchObject({ id })
  expect(await get(`/${shortOf(id)}/logs`)).toMatchObject({ lines: [] })
  expect(await get(`/${shortOf(id)}/steps`)).toMatchObject({ steps: [], waits: [] })
  expect(await get(`?search=${shortOf(id)}`)).toMatchObject({ jobs: [{ id }] })
})

// The assertions: what they find, and what they say where they do not.
import { AssertionError } from 'node:assert'
import { defineJob } from '@millrace/engine'
import { expect, onTestFinished, test } from 'vitest'
import { createTestEngine, type EnqueuedMatcher, type TestEngineOptions } from './index.ts'

const mail = defineJob<{ to: string; of?: { id: number; items: readonly number[] } }>({ name: 'mail', queue: 'out' })

function start(options?: TestEngineOptions) {
  const t = createTestEngine(options)
  onTestFinished(() => t[Symbol.asyncDispose]())
  return t
}

async function errorOf(promise: Promise<unknown>): Promise<AssertionError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(AssertionError)
  return error as AssertionError
}

test('answers what matches: a part of the job, a part of its data, a function, a runner’s own matchers', async () => {
  const t = start()
  await t.engine.enqueue(mail, { to: 'ann', of: { id: 1, items: [1, 2] } }, { tags: ['first'], delay: '1h' })
  await t.engine.enqueue(mail, { to: 'bob', of: { id: 2, items: [] } }, { priority: 3 })
  await t.engine.enqueue('bystander')
  const found = async (matcher?: EnqueuedMatcher) => (await t.expectEnqueued(mail, matcher)).map(({ data }) => (data as { to: string }).to)
  expect(await found()).toEqual(['ann', 'bob'])
  expect(await found({ data: { to: 'ann' } })).toEqual(['ann'])
  expect(await found({ data: { of: { id: 2 } }, queue: 'out', priority: 3 })).toEqual(['bob'])
  expect(await found({ data: { of: { items: [1, 2] } }, tags: ['first'], state: 'scheduled' })).toEqual(['ann'])
  expect(await found({ runAt: new Date('2030-01-01T01:00:00Z') })).toEqual(['ann'])
  expect(await found({ data: { of: { id: expect.any(Number) } } })).toEqual(['ann', 'bob'])
  expect(await found({ data: expect.objectContaining({ to: expect.stringMatching(/^b/) }) })).toEqual(['bob'])
  expect(await found(({ priority }) => priority > 0)).toEqual(['bob'])
  expect(await t.expectEnqueued('mail', { data: { to: 'cid' } }, { count: 0 })).toEqual([])
  expect(await t.expectEnqueued('mail', {}, { count: 2 })).toHaveLength(2)
  expect((await t.enqueued('bystander')).map(({ name }) => name)).toEqual(['bystander'])
})

test('says what was enqueued instead, and where each is different', async () => {
  const t = start()
  await t.engine.enqueue(mail, { to: 'ann', of: { id: 1, items: [1, 2] } })
  await t.engine.enqueue(mail, { to: 'bob' }, { delay: '1h' })
  const error = await errorOf(t.expectEnqueued(mail, { data: { to: 'ann', of: { id: 7, items: [1] } }, state: 'waiting' }))
  expect(
    error.message,
  ).toBe(`expected a job 'mail' with { data: { to: 'ann', of: { id: 7, items: [ 1 ] } }, state: 'waiting' } to be enqueued; there is none.
Of that name were enqueued (2):
  waiting in queue 'out': { to: 'ann', of: { id: 1, items: [ 1, 2 ] } }
      data.of.id: expected 7, was 1
      data.of.items: expected [ 1 ], was [ 1, 2 ] (2 items, not 1)
  scheduled in queue 'out': { to: 'bob' }
      data.to: expected 'ann', was 'bob'
      data.of: expected { id: 7, items: [ 1 ] }, was undefined
      state: expected 'waiting', was 'scheduled'`)
  expect(error).toMatchObject({
    code: 'ERR_ASSERTION',
    actual: [
      { data: { to: 'ann' }, state: 'waiting' },
      { data: { to: 'bob' }, state: 'scheduled' },
    ],
    expected: [{ data: { to: 'ann' }, state: 'waiting' }],
  })
  expect((await errorOf(t.expectEnqueued(mail, {}, { count: 1 }))).message).toMatch(/^expected 1 job 'mail' to be enqueued; there are 2\./)
  expect((await errorOf(t.expectEnqueued(mail, () => false))).message).toMatch(
    /that a function says yes to.+\n.+\n.+\n {6}the function says no/,
  )
})

test('names what else there is, and is bounded', async () => {
  const t = start()
  expect((await errorOf(t.expectEnqueued(mail))).message).toMatch(/there is none\.\nOf other names were enqueued:\n {2}nothing at all$/)
  await t.engine.enqueueMany(Array.from({ length: 450 }, (_, index) => ({ job: 'other', data: index })))
  expect((await errorOf(t.expectEnqueued(mail))).message).toMatch(/Of other names were enqueued:\n {2}450 'other'$/)
  expect((await t.enqueued('other')).map(({ data }) => data)).toEqual(Array.from({ length: 450 }, (_, index) => index))
  const { message } = await errorOf(t.expectEnqueued('other', { data: 451 }))
  expect(message).toMatch(/\n {2}and 430 more$/)
})

test('what a test mistypes is told', async () => {
  const t = start()
  await expect(t.expectEnqueued(mail, { stat: 'waiting' } as EnqueuedMatcher)).rejects.toThrow(/no option 'stat'; did you mean/)
  await expect(t.expectEnqueued(mail, {}, { times: 1 } as object)).rejects.toThrow(/no option 'times'/)
  await expect(t.expectEnqueued(mail, {}, { count: -1 })).rejects.toThrow(RangeError)
  await expect(t.enqueued('')).rejects.toThrow(/job/)
})

test('finds what a handler, a schedule and a flow have enqueued, and reads through the codec', async () => {
  const turned = (bytes: Uint8Array) => bytes.map((byte) => byte ^ 0x55)
  const t = start({ codec: { encode: turned, decode: turned } })
  t.engine.work(
    defineJob({ name: 'signup' }).handler(({ enqueue }) => {
      enqueue(mail, { to: 'ann' }, { delay: '1d' })
    }),
  )
  await t.engine.enqueue('signup')
  await t.engine.schedules.upsert('daily', { cron: '0 8 * * *' }, { job: mail, data: { to: 'all' } })
  await t.engine.flow([
    { ref: 'a', job: mail, data: { to: 'bob' } },
    { ref: 'b', job: mail, data: { to: 'cid' }, dependsOn: ['a'] },
  ])
  await t.clock.advance('8h')
  expect((await t.enqueued(mail)).map(({ state, data }) => [state, data])).toEqual([
    ['scheduled', { to: 'ann' }],
    ['waiting', { to: 'bob' }],
    ['blocked', { to: 'cid' }],
    ['waiting', { to: 'all' }],
  ])
  await t.expectEnqueued(mail, { data: { to: 'all' }, tags: ['schedule:daily'] }, { count: 1 })
})

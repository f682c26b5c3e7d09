import { defineJob } from '@millrace/engine'
import { createTestEngine } from '@millrace/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { TOOLS } from './tools.ts'

const WORDS = ['data', 'meta', 'checkpoint', 'progress', 'output', 'step', 'schedule data', 'schedule meta'] as const
const secret = (word: (typeof WORDS)[number]) => `the secret of ${word}`

/** A job and a schedule with a secret in each of their payloads. */
async function engineOf() {
  const t = await createTestEngine()
  onTestFinished(() => t.engine.stop())
  t.engine.work(
    defineJob({ name: 'keeps', maxAttempts: 1 }).handler(async (job) => {
      await job.step('keep', () => ({ word: secret('step') }))
      await job.checkpoint({ word: secret('checkpoint') })
      job.progress(0.5, secret('progress'), { word: secret('progress') })
      return { word: secret('output') }
    }),
  )
  const options = { meta: { word: secret('schedule meta') } }
  await t.engine.schedules.upsert('daily', { every: '1d' }, { job: 'keeps', data: { word: secret('schedule data') }, options })
  const job = await t.engine.enqueue('keeps', { word: secret('data') }, { meta: { word: secret('meta') } })
  const triggered = await t.engine.schedules.trigger('daily')
  await t.drain()
  expect((await t.engine.get(triggered.id))?.state).toBe('completed')
  return { engine: t.engine, id: job.id }
}

test.each(TOOLS)('$name shows no payload unless that is allowed', async ({ input, call }) => {
  const { engine, id } = await engineOf()
  const given = input.parse('id' in input.shape ? { id } : {})
  const answer = await call(engine, given, { payloads: false }).catch((error: Error) => ({ error: error.message }))
  expect(JSON.stringify(answer)).not.toContain('the secret of')
})

test('with payloads, the tools that list and show them do', async () => {
  const { engine, id } = await engineOf()
  const tools = TOOLS.filter(({ changes }) => !changes)
  const answers = await Promise.all(
    tools.map(({ input, call }) => call(engine, input.parse('id' in input.shape ? { id } : {}), { payloads: true })),
  )
  for (const word of WORDS.filter((each) => each !== 'schedule data')) expect(JSON.stringify(answers)).toContain(secret(word))
})

test('get_steps has a page of stored steps with their errors, and retry_job says at which one it resumes', async () => {
  const t = await createTestEngine()
  onTestFinished(() => t.engine.stop())
  const worker = t.engine.work(
    defineJob({ name: 'walks', maxAttempts: 1 }).handler(async ({ step, sleep }) => {
      await step('long', () => 'x'.repeat(1_500))
      await step('short', () => 1)
      await sleep('nap', '1h')
      await step('fails', () => Promise.reject(new RangeError('no')))
    }),
  )
  const { id } = await t.engine.enqueue('walks')
  await t.drain()
  const use = (name: string, given: object, payloads = true) => {
    const { input, call } = TOOLS.find((each) => each.name === name) as (typeof TOOLS)[number]
    return call(t.engine, input.parse({ id, ...given }), { payloads })
  }
  expect(await use('get_steps', { limit: 1 })).toMatchObject({
    steps: [{ number: 1, name: 'long', value: `"${'x'.repeat(999)}… (502 more characters)` }],
    waits: [{ name: 'nap' }],
    next: 1,
  })
  expect(await use('get_steps', { after: 1 }, false)).toEqual({
    steps: [expect.not.objectContaining({ value: expect.anything() })],
    waits: [expect.objectContaining({ name: 'nap' })],
    messages: [],
    kept: 0,
    next: undefined,
  })
  await t.clock.advance('1h')
  await t.drain()
  expect(await use('get_steps', { after: 2 }, false)).toMatchObject({
    steps: [{ name: 'nap' }, { name: 'fails', error: { message: 'no' } }],
  })
  await worker.stop()
  expect(await use('retry_job', { from: 'short' })).toMatchObject({ id, state: 'waiting' })
  expect(await use('get_steps', {})).toMatchObject({ steps: [{ name: 'long' }], waits: [] })
})

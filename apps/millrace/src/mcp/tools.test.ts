import { defineJob } from '@millrace/engine'
import { createTestEngine } from '@millrace/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { TOOLS } from './tools.ts'

const WORDS = ['data', 'meta', 'checkpoint', 'progress', 'output', 'schedule data', 'schedule meta'] as const
const secret = (word: (typeof WORDS)[number]) => `the secret of ${word}`

/** A job and a schedule with a secret in each of their payloads. */
async function engineOf() {
  const t = await createTestEngine()
  onTestFinished(() => t.engine.stop())
  t.engine.work(
    defineJob({ name: 'keeps', maxAttempts: 1 }).handler(async (job) => {
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

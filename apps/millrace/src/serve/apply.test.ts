/** Queues and schedules of the configuration, at each start. */
import { type Engine, openEngine } from '@millrace/engine'
import { expect, onTestFinished, test } from 'vitest'
import { SCHEMA } from '../config/schema/schema.ts'
import { setSetting } from '../config/settings.ts'
import { apply } from './apply.ts'

async function opened(): Promise<Engine> {
  const engine = await openEngine({ file: ':memory:' })
  onTestFinished(() => engine.stop({ timeout: 0 }))
  return engine
}

const CONFIG = SCHEMA.parse({
  queues: {
    mail: {
      maxLength: 5,
      rateLimit: { limit: 10, period: '1m' },
      retention: { failed: '3d' },
      defaults: { maxAttempts: 7, timeout: 'Infinity' },
      paused: true,
    },
    other: {},
  },
  schedules: {
    nightly: { cron: '0 3 * * *', timezone: 'Europe/Berlin', job: 'clean', data: { deep: true }, queue: 'mail', options: { priority: 4 } },
  },
})

test('what is named is set, and to apply it again changes nothing', async () => {
  const engine = await opened()
  for (let times = 0; times < 2; times++) {
    await apply(engine, CONFIG)
    expect(await engine.queues.get('mail')).toMatchObject({
      paused: true,
      settings: {
        maxLength: 5,
        rateLimit: { limit: 10, period: 60_000, burst: 10 },
        retention: { failed: { ageMs: 3 * 86_400_000 } },
        defaults: { maxAttempts: 7, timeout: Number.POSITIVE_INFINITY },
      },
    })
    expect(await engine.schedules.get('nightly')).toMatchObject({
      cron: '0 3 * * *',
      timezone: 'Europe/Berlin',
      job: 'clean',
      data: { deep: true },
      options: { queue: 'mail', priority: 4 },
    })
  }
  expect((await engine.schedules.list()).schedules).toHaveLength(1)
})

test('a schedule that is to be paused never fires, and false resumes it', async () => {
  const engine = await opened()
  const paused = (value: boolean) => SCHEMA.parse({ schedules: { held: { every: '1h', job: 'x', paused: value } } })
  await apply(engine, paused(true))
  expect(await engine.schedules.get('held')).toMatchObject({ paused: true, runs: 0 })
  await engine.schedules.resume('held')
  await apply(engine, paused(true))
  expect(await engine.schedules.get('held')).toMatchObject({ paused: true })
  await apply(engine, paused(false))
  expect(await engine.schedules.get('held')).toMatchObject({ paused: false })
})

test('what is not named stays as it was told at run time', async () => {
  const engine = await opened()
  await apply(engine, CONFIG)
  for (const [key, value] of [
    ['share', 3],
    ['max-length', 9],
    ['retention.completed', '1d'],
    ['priority', 5],
    ['max-attempts', 2],
  ] as const)
    await setSetting(engine, key, value, { queue: 'mail' })
  await engine.queues.pause('other')
  await engine.schedules.upsert('theirs', { every: '1h' }, { job: 'x' })
  await apply(engine, CONFIG)
  expect((await engine.queues.get('mail'))?.settings).toMatchObject({
    share: 3,
    maxLength: 5,
    retention: { completed: { ageMs: 86_400_000 }, failed: { ageMs: 3 * 86_400_000 } },
    defaults: { priority: 5, maxAttempts: 7 },
  })
  expect((await engine.queues.get('other'))?.paused).toBe(true)
  expect(await engine.schedules.get('theirs')).toBeDefined()
})

test('what only the engine can see is told with its key', async () => {
  const config = SCHEMA.parse({ schedules: { a: { every: '1s', job: 'x', options: { unique: { key: 'k' } } } } })
  await expect(apply(await opened(), config)).rejects.toMatchObject({
    code: 'CONFIG',
    message: expect.stringContaining("'schedules.a': the job of a schedule takes no unique key"),
  })
})

// `diagnostics_channel`: what a tracer hears of the jobs and runs of its process.
import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel'
import { defineJob } from '@millrace/engine'
import { createTestEngine } from '@millrace/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { startFaulty } from '../failures/faulty.ts'

const NAMES = ['millrace:enqueued', 'millrace:started', 'millrace:ended'] as const

/** What is told on each, as `name: message`. */
function listen(): [name: string, message: Readonly<Record<string, unknown>>][] {
  const heard: [string, Readonly<Record<string, unknown>>][] = []
  for (const name of NAMES) {
    const hear = (message: unknown) => void heard.push([name, message as Readonly<Record<string, unknown>>])
    subscribe(name, hear)
    onTestFinished(() => void unsubscribe(name, hear))
  }
  return heard
}

test('a job: enqueued once it is committed, started before its handler, ended once that is committed', async () => {
  const heard = listen()
  await using t = createTestEngine()
  const job = defineJob({ name: 'a', queue: 'q', maxAttempts: 2, backoff: { type: 'fixed', delay: '1s' } })
  let before = 0
  t.engine.work(
    job.handler(({ job: { run } }) => {
      before = heard.length
      if (run === 1) throw new TypeError('no')
    }),
    { id: 'w' },
  )
  const handle = await t.engine.enqueue(job, undefined, { meta: { trace: 't' } })
  await t.advance('2s')
  await handle.result()
  const jobId = handle.id
  const run = (number: number) => ({ jobId, name: 'a', queue: 'q', run: number, attempt: number, worker: 'w', meta: { trace: 't' } })
  expect(before).toBe(4)
  expect(heard.toSorted(([, a], [, b]) => Number(a['run'] ?? 0) - Number(b['run'] ?? 0))).toEqual([
    ['millrace:enqueued', { jobId, name: 'a', queue: 'q', created: true }],
    ['millrace:started', run(1)],
    ['millrace:ended', { ...run(1), outcome: 'failed', error: expect.objectContaining({ name: 'TypeError', message: 'no' }) }],
    ['millrace:started', run(2)],
    ['millrace:ended', { ...run(2), outcome: 'completed' }],
  ])
})

test('many, and one that a key matches', async () => {
  const heard = listen()
  await using t = createTestEngine()
  await t.engine.enqueueMany([{ job: 'a' }, { job: 'b', options: { idempotencyKey: 'k' } }])
  await t.engine.enqueue('b', null, { idempotencyKey: 'k' })
  expect(heard.map(([, { name, created }]) => [name, created])).toEqual([
    ['a', true],
    ['b', true],
    ['b', false],
  ])
})

test('what is not committed is not told', async () => {
  const heard = listen()
  const { engine, faults } = startFaulty()
  faults.fail({ kind: 'io' })
  await expect(engine.enqueue('a')).rejects.toMatchObject({ code: 'STORAGE' })
  expect(heard).toEqual([])
})

test('a run that is given back, and one that is lost, end as that, once', async () => {
  const heard = listen()
  await using t = createTestEngine()
  const deaf = defineJob({ name: 'deaf', timeout: '1s', maxAttempts: 1 })
  let finish = () => {}
  const worker = t.engine.work(
    [
      deaf.handler(
        () =>
          new Promise<void>((resolve) => {
            finish = resolve
          }),
      ),
      defineJob({ name: 'later' }).handler(({ snooze }) => snooze('1h')),
      defineJob({ name: 'joins' }).handler(async ({ join }) => void (await join('others', [{ job: 'other' }]))),
    ],
    { abortGrace: '1s' },
  )
  await t.engine.enqueue('later')
  await t.engine.enqueue('joins')
  await t.engine.enqueue(deaf)
  await t.advance('10s')
  finish()
  await t.advance('1s')
  await worker.stop({ timeout: 0 })
  const ends = heard.filter(([name]) => name === 'millrace:ended').map(([, { name, outcome }]) => [name, outcome])
  expect(ends).toEqual([
    ['later', 'snoozed'],
    ['joins', 'joined'],
    ['deaf', 'lost'],
  ])
})

test('an engine itself listens to none of them', async () => {
  // Another file of this process may have left a worker that is traced.
  const listeners = () => NAMES.map((name) => channel(name).hasSubscribers)
  const before = listeners()
  await using t = createTestEngine()
  t.engine.work(defineJob({ name: 'a' }).handler(() => {}))
  await t.engine.enqueue('a')
  expect(listeners()).toEqual(before)
})

/** N11: what a handler enqueues is there with its completion, all of it, and with nothing else. What a commit in doubt does: test/failures/commitUnknown.test.ts. */
import { defineJob, LIMITS, NonRetryableError } from '@millrace/engine'
import { createTestEngine } from '@millrace/testkit'
import { expect, test } from 'vitest'

const children = async (engine: Awaited<ReturnType<typeof createTestEngine>>['engine']) =>
  (await engine.list({ name: 'child' })).jobs.map(({ data }) => data).toReversed()

const parent = defineJob<string>({ name: 'parent', maxAttempts: 2, backoff: { type: 'fixed', delay: '1m', jitter: 0 } })

test.each(['throws', 'fails for good', 'snoozes', 'discards'])(
  'a run that %s leaves none of them; one that completes leaves all',
  async (how) => {
    await using world = createTestEngine()
    const { engine } = world
    const bystander = await engine.enqueue('child', 'bystander')
    let ended = 0
    engine.work(
      parent.handler(({ enqueue, snooze, discard, data }) => {
        enqueue('child', 1)
        enqueue('child', 2)
        if (ended++ === 0) {
          if (data === 'throws') throw new Error('later')
          if (data === 'fails for good') throw new NonRetryableError('never')
          if (data === 'snoozes') snooze('1m')
          discard('not wanted')
        }
      }),
    )
    const { id } = await engine.enqueue(parent, how)
    await world.advance(0)
    expect(ended).toBe(1)
    expect(await children(engine)).toEqual(['bystander'])
    await world.advance('1m')
    if ((await engine.get(id))?.state === 'failed') await engine.retry(id)
    await world.advance(0)
    expect((await engine.get(id))?.state).toBe('completed')
    expect(await children(engine)).toEqual(['bystander', 1, 2])
    expect((await engine.get(bystander.id))?.state).toBe('waiting')
  },
)

test('N11: one is refused for a key that is held: none of them is there, the run has failed, and they come with the retry', async () => {
  await using world = createTestEngine()
  const { engine } = world
  const held = await engine.enqueue('other', 0, { unique: { key: 'k', onConflict: 'error' } })
  engine.work(
    parent.handler(({ enqueue }) => {
      enqueue('child', 1)
      enqueue('other', 2, { unique: { key: 'k', onConflict: 'error' } })
    }),
  )
  const { id } = await engine.enqueue(parent, '')
  await world.advance(0)
  expect(await engine.get(id)).toMatchObject({ state: 'scheduled', attempts: [{ error: { name: 'UniqueConflictError' } }] })
  expect(await children(engine)).toEqual([])
  await engine.cancel(held.id)
  await world.advance('1m')
  expect(await engine.get(id)).toMatchObject({ state: 'completed', attempt: 2 })
  expect(await children(engine)).toEqual([1])
})

test('a queue has no room for one: none of them is there, and the run completes when it has', async () => {
  await using world = createTestEngine()
  const { engine } = world
  await engine.queues.configure('narrow', { maxLength: 1 })
  const holder = await engine.enqueue('holder', 0, { queue: 'narrow' })
  engine.work(
    parent.handler(({ enqueue }) => {
      enqueue('child', 1)
      enqueue('child', 2, { queue: 'narrow' })
    }),
  )
  const { id } = await engine.enqueue(parent, '')
  await world.advance('1s')
  expect((await engine.get(id))?.state).toBe('active')
  expect(await children(engine)).toEqual([])
  await engine.cancel(holder.id)
  await world.advance('1m')
  expect(await engine.get(id)).toMatchObject({ state: 'completed', attempt: 1 })
  expect(await children(engine)).toEqual([1, 2])
})

test('a run may enqueue what fits after it was refused what does not', async () => {
  await using t = createTestEngine({ maxDataBytes: LIMITS.bytesPerCommand })
  const job = defineJob({ name: 'j', maxAttempts: 1 })
  t.engine.work(
    job.handler(({ enqueue }) => {
      enqueue('a', 'x'.repeat(10 * 2 ** 20), { delay: '1h' })
      expect(() => enqueue('a', 'x'.repeat(10 * 2 ** 20))).toThrow(/split/)
      enqueue('b', 'small', { delay: '1h' })
    }),
  )
  const handle = await t.engine.enqueue(job)
  await expect(handle.result()).resolves.toBeUndefined()
})

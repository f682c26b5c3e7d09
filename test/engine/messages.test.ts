/** Messages through the public interface: what handlers get of them, in every kind of worker, under the virtual clock. */
import { defineJob, type HandlerFunction, type JobHandle, type MessagesOf } from '@millrace/engine'
import { createTestEngine, type TestEngine } from '@millrace/testkit'
import { quiet } from '@millrace/testkit/internal'
import { afterEach, beforeEach, describe, expect, expectTypeOf, test } from 'vitest'

let t: TestEngine

beforeEach(() => {
  t = createTestEngine()
})

afterEach(() => t[Symbol.asyncDispose]())

interface Decision {
  readonly yes: boolean
  readonly at?: Date
}

const order = defineJob<string, unknown>({ name: 'order', maxAttempts: 2 }).messages<{
  decided: Decision
  go: undefined
  file: Uint8Array
}>()
type Handler = HandlerFunction<string, unknown, MessagesOf<typeof order>>

/** The id of no job. */
const NOBODY = '01990a5e-7f00-7000-8000-000000400001'

async function run(handler: Handler): Promise<JobHandle<unknown, { decided: Decision; go: undefined; file: Uint8Array }>> {
  t.engine.work(order.handler(handler as never))
  const handle = await t.engine.enqueue(order, '')
  await quiet()
  return handle as never
}

describe('waitFor', () => {
  test('sleeps until the message comes, without a slot, and gives what JSON gives back', async () => {
    const seen: unknown[] = []
    const handle = await run(async ({ waitFor, job }) => {
      const decided = await waitFor('decided')
      expectTypeOf(decided).toEqualTypeOf<{ readonly yes: boolean; readonly at?: string }>()
      seen.push(job.run, decided)
      return await waitFor('go')
    })
    expect(await t.engine.get(handle.id)).toMatchObject({ state: 'scheduled', runAt: new Date('9999-12-31T23:59:59.999Z') })
    expect((await t.engine.explain(handle.id))?.message).toBe("waits for the message 'decided'")
    await t.clock.advance('400d')
    expect(seen).toEqual([])
    expect(await handle.send('decided', { yes: true, at: new Date(0) })).toBe('taken')
    await t.drain()
    expect(seen).toEqual([2, { yes: true, at: '1970-01-01T00:00:00.000Z' }])
    expect(await t.engine.send<typeof order>(handle.id, 'go')).toBe('taken')
    expect(await handle.result()).toBeNull()
  })

  test('takes messages that came before, in their order, without ending its run', async () => {
    const handle = await t.engine.enqueue(order, '')
    for (const yes of [true, false]) expect(await handle.send('decided', { yes })).toBe('kept')
    expect(await handle.send('file', new Uint8Array([0, 255]))).toBe('kept')
    const runs: unknown[] = []
    t.engine.work(
      order.handler(async ({ waitFor, job }) => {
        const [first, second] = [await waitFor('decided'), await waitFor('decided', { as: 'again' })]
        runs.push(job.run, first, second, await waitFor('file'))
      }),
    )
    await handle.result()
    expect(runs).toEqual([1, { yes: true }, { yes: false }, new Uint8Array([0, 255])])
  })

  test('with a timeout resolves to undefined once that has passed, and a later message is kept', async () => {
    const handle = await run(async ({ waitFor, sleep }) => {
      const decided = await waitFor('decided', { timeout: '3d' })
      expectTypeOf(decided).toEqualTypeOf<{ readonly yes: boolean; readonly at?: string } | undefined>()
      await sleep('long', '10d')
      return [decided === undefined, await waitFor('decided', { as: 'late', timeout: 0 })]
    })
    expect((await t.engine.explain(handle.id))?.message).toMatch(/^waits for the message 'decided' until /)
    await t.clock.advance('3d')
    await quiet()
    expect(await handle.send('decided', { yes: true })).toBe('kept')
    expect(await t.engine.steps(handle.id)).toMatchObject({ kept: 1, messages: [{ name: 'decided', value: { yes: true } }] })
    await t.engine.runNow(handle.id)
    expect(await handle.result()).toEqual([true, { yes: true }])
  })

  test('in a race with a step ends it as soon as the message comes, and the step is aborted', async () => {
    const aborted: unknown[] = []
    const handle = await run(async ({ waitFor, step }) => {
      const work = step(
        'work',
        ({ signal }) => new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      )
      work.catch((error: Error) => aborted.push(error.name))
      return await Promise.race([work, waitFor('decided')])
    })
    expect((await t.engine.get(handle.id))?.state).toBe('active')
    expect(await handle.send('decided', { yes: false })).toBe('kept')
    expect(await handle.result()).toEqual({ yes: false })
    expect(await t.engine.steps(handle.id)).toMatchObject({ steps: [{ name: 'decided', kind: 'message' }], kept: 0 })
  })

  test('of several at once, each gets its own; whoever is left waits on', async () => {
    const handle = await run(async ({ waitFor }) =>
      Promise.all([waitFor('go'), waitFor('decided', { as: 'a' }), waitFor('decided', { as: 'b' })]),
    )
    await handle.send('decided', { yes: true })
    await quiet()
    await handle.send('go')
    await quiet()
    await handle.send('decided', { yes: false })
    expect(await handle.result()).toEqual([null, { yes: true }, { yes: false }])
  })

  test('is replayed always as it was, on demand', async () => {
    await t[Symbol.asyncDispose]()
    t = createTestEngine({ replay: 'always' })
    const handle = await run(async ({ waitFor, step }) => [await waitFor('decided'), await step('one', () => 1), await waitFor('go')])
    await handle.send('decided', { yes: true })
    await handle.send('go')
    await t.drain()
    expect(await handle.result()).toEqual([{ yes: true }, 1, null])
  })

  test('uses no attempt, and gives the job all of them again', async () => {
    const handle = await run(async ({ waitFor, job, step }) => {
      await step('shaky', ({ attempt }) => {
        if (job.run === 1) throw new Error('no')
        return attempt
      })
      await waitFor('go')
      return job.attempt
    })
    await t.clock.advance('1h')
    await handle.send('go')
    expect(await handle.result()).toBe(1)
  })

  test.for<readonly [what: string, message: RegExp, handler: Handler]>([
    ['a repeated name', /asked for 'go' before/, async ({ waitFor }) => Promise.all([waitFor('go'), waitFor('go')])],
    ['within a step', /'go' is asked for within the step 's'/, async ({ waitFor, step }) => step('s', async () => waitFor('go'))],
    ['no name', /message must have 1 to 512 characters/, async ({ waitFor }) => waitFor('' as never)],
    ['the name of the beginning', /cannot have the name 'start'/, async ({ waitFor }) => waitFor('go', { as: 'start' })],
    ['an unknown option', /waitFor has no option 'until'|no option 'until'/, async ({ waitFor }) => waitFor('go', { until: 1 } as never)],
    ['no duration', /timeout must be a duration/, async ({ waitFor }) => waitFor('go', { timeout: 'soon' as never })],
  ])('refuses %s', async ([, message, handler]) => {
    const one = defineJob<string, unknown>({ name: 'order', maxAttempts: 1 })
    t.engine.work(one.messages<MessagesOf<typeof order>>().handler(handler))
    await expect((await t.engine.enqueue(one, '')).result()).rejects.toMatchObject({ cause: { message: expect.stringMatching(message) } })
  })
})

describe('send', () => {
  test('with a key stores it once, and says so; a job that has ended or is not there refuses it', async () => {
    const handle = await t.engine.enqueue(order, '', { delay: '1h', unique: { key: 'u' } })
    const send = () => t.engine.send({ name: 'order', uniqueKey: 'u' }, 'go', undefined, { idempotencyKey: 'k', by: 'ops' })
    expect([await send(), await send()]).toEqual(['kept', 'known'])
    expect(await t.engine.steps(handle.id)).toMatchObject({ kept: 1, messages: [{ number: 1, by: 'ops', value: null }] })
    await t.engine.cancel(handle.id)
    await expect(handle.send('go')).rejects.toMatchObject({ code: 'JOB_FINISHED' })
    await t.engine.delete(handle.id)
    await expect(handle.send('go')).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' })
    await expect(t.engine.send({ name: 'order', uniqueKey: 'v' }, 'go')).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' })
  })

  test.for<readonly [what: string, code: string, call: () => Promise<unknown>]>([
    ['no id', 'JOB_NOT_FOUND', () => t.engine.send('no-id', 'go')],
    ['a handle', 'OPTION_TYPE', () => t.engine.send({ id: 'x' } as never, 'go')],
    ['no name', 'OPTION_RANGE', () => t.engine.send(NOBODY, '')],
    ['an unknown option', 'OPTION_TYPE', () => t.engine.send(NOBODY, 'go', 1, { key: 'k' } as never)],
    ['a name that is no job’s', 'OPTION_TYPE', () => t.engine.send(NOBODY, 'go', 1, { only: ['a b'] })],
  ])('refuses %s', async ([, code, call]) => {
    await expect(call()).rejects.toMatchObject({ code })
  })

  test('checks the names and the data of declared messages', () => {
    const wrong = (handle: JobHandle<unknown, { decided: Decision }>) => [
      // @ts-expect-error no such message
      handle.send('decide', { yes: true }),
      // @ts-expect-error its data is wrong
      handle.send('decided', { yes: 1 }),
      // @ts-expect-error its data is missing
      handle.send('decided'),
      // @ts-expect-error no such message
      t.engine.send<typeof order>('id', 'decide'),
    ]
    expect(wrong).toBeTypeOf('function')
  })
})

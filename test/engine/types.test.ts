/** Types as users meet them: what flows from a definition to everything that uses it, and what the compiler refuses. */
import {
  type Batch,
  defineJob,
  type Engine,
  type HandlerOf,
  type InputOf,
  type Job,
  type JobHandle,
  type JobOf,
  type JobRequest,
  type OutputOf,
  type Parent,
  type Stored,
} from '@millrace/engine'
import { createTestEngine } from '@millrace/testkit'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { describe, expect, expectTypeOf, onTestFinished, test } from 'vitest'

interface Mail {
  to: string
  kind?: 'letter' | 'card'
  copies?: string[]
}
interface Sent {
  id: number
}

const mail = defineJob<Mail, Sent>({ name: 'mail' })
const count = defineJob<number, number>({ name: 'count' })
const clean = defineJob<undefined, void>({ name: 'clean' })
const untyped = defineJob({ name: 'untyped' })
/** As `z.object({ path: z.string(), width: z.number().default(80) })` is. */
const schema: StandardSchemaV1<{ path: string; width?: number }, { path: string; width: number }> = {
  '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value: { path: '', width: 80, ...(value as object) } }) },
}
const resize = defineJob({ name: 'resize', schema }).returns<{ bytes: number }>()

function start(): Engine {
  const t = createTestEngine({ mode: 'inline' })
  onTestFinished(() => t[Symbol.asyncDispose]())
  t.engine.work([
    untyped.handler(() => {}),
    resize.handler(() => ({ bytes: 1 })),
    mail.handler(({ data }) => ({ id: data.to.length })),
    count.handler(({ data }) => data + 1),
    clean.handler(() => {}),
  ])
  return t.engine
}

describe('the output', () => {
  test('of a definition is what result() answers', async () => {
    const engine = start()
    const handle = await engine.enqueue(mail, { to: 'ann' })
    expectTypeOf(handle).toEqualTypeOf<JobHandle<Sent>>()
    expect((await handle.result()).id satisfies number).toBe(3)
    expectTypeOf(await (await engine.enqueue(clean)).result()).toEqualTypeOf<void>()
    expectTypeOf((await engine.enqueue(untyped, 1)).result()).toEqualTypeOf<Promise<unknown>>()
    expectTypeOf((await engine.enqueue('mail', { to: 'ann' })).result()).toEqualTypeOf<Promise<unknown>>()
    expectTypeOf<OutputOf<typeof resize>>().toEqualTypeOf<{ bytes: number }>()
  })

  test('of a handler is inferred, and flows from its definition', async () => {
    const { engine } = createTestEngine({ mode: 'inline' })
    onTestFinished(() => engine.stop())
    const handler = defineJob<Mail>({ name: 'typed' }).handler(async ({ data }) => ({ length: data.to.length }))
    engine.work(handler)
    const handle = await engine.enqueue(handler.definition, { to: 'ann' })
    expectTypeOf(handle.result()).toEqualTypeOf<Promise<{ length: number }>>()
    expectTypeOf<OutputOf<typeof handler>>().toEqualTypeOf<{ length: number }>()
    expectTypeOf<InputOf<typeof handler>>().toEqualTypeOf<Mail>()
    expect(await handle.result()).toEqual({ length: 3 })
  })

  test('that is declared binds every handler', () => {
    // @ts-expect-error: `id` is a number
    mail.handler(() => ({ id: 'one' }))
    // @ts-expect-error: `id` is missing
    mail.handler(async () => ({}))
    // @ts-expect-error: nothing is returned
    mail.handler(() => {})
    // @ts-expect-error: an outcome has an output of that type
    mail.handler((items) => items.map(() => ({ output: 'one' })), { batch: { size: 2 } })
    mail.handler((items) => items.map(({ data }) => ({ output: { id: data.to.length } })), { batch: { size: 2 } })
    const ofModule: HandlerOf<typeof mail> = ({ data }) => ({ id: data.to.length })
    // @ts-expect-error: a module's handler, too
    const wrong: HandlerOf<typeof mail> = () => 1
    expect([ofModule, wrong]).toHaveLength(2)
  })

  test('is as JSON leaves it', async () => {
    expectTypeOf<Stored<{ at: Date; items: (Date | null)[]; f(): void; b?: Uint8Array }>['at']>().toEqualTypeOf<string>()
    expectTypeOf<Stored<{ items: (Date | null)[]; f(): void }>>().toEqualTypeOf<{ items: (string | null)[] }>()
    expectTypeOf<Stored<Buffer>>().toEqualTypeOf<Uint8Array>()
    expectTypeOf<Stored<unknown>>().toEqualTypeOf<unknown>()
    expectTypeOf<Stored<{ any: unknown }>>().toEqualTypeOf<{ any: unknown }>()
    expectTypeOf<Stored<readonly [1, 'a']>>().toEqualTypeOf<readonly [1, 'a']>()
    const { engine } = createTestEngine({ mode: 'inline' })
    onTestFinished(() => engine.stop())
    const dated = defineJob<{ since: Date }, Date>({ name: 'dated' })
    engine.work(
      dated.handler(({ data }) => {
        expectTypeOf(data.since).toEqualTypeOf<string>()
        return new Date(data.since)
      }),
    )
    const at = new Date(5)
    expect((await (await engine.enqueue(dated, { since: at })).result()) satisfies string).toBe(at.toISOString())
  })
})

describe('the data', () => {
  test('is checked by enqueue', async () => {
    const engine = start()
    const wrong = () => [
      // @ts-expect-error: `to` is missing
      engine.enqueue(mail, { too: 'ann' }),
      // @ts-expect-error: the data is missing
      engine.enqueue(mail),
      // @ts-expect-error: a job without data
      engine.enqueue(clean, 1),
      // @ts-expect-error: no such kind
      engine.enqueue(mail, { to: 'ann', kind: 'parcel' }),
      // @ts-expect-error: `path` is a string
      engine.enqueue(resize, { path: 1 }),
    ]
    expect(wrong).toBeTypeOf('function')
    await engine.enqueue(resize, { path: 'a.png' })
  })

  test('of definition.job is checked, and its handle is typed', async () => {
    const engine = start()
    expect(mail.job({ to: 'ann' }, { delay: '5m' })).toEqual({ job: mail, data: { to: 'ann' }, options: { delay: '5m' } })
    expect(clean.job()).toEqual({ job: clean })
    const [sent, counted] = await engine.enqueueMany([mail.job({ to: 'ann', kind: 'card' }), count.job(4)])
    expectTypeOf(sent).toEqualTypeOf<JobHandle<Sent>>()
    expectTypeOf(counted).toEqualTypeOf<JobHandle<number>>()
    expect([await sent.result(), await counted.result()]).toEqual([{ id: 3 }, 5])
    const wrong = () => [
      // @ts-expect-error: `to` is a string
      mail.job({ to: 1 }),
      // @ts-expect-error: the data is missing
      mail.job(),
      // @ts-expect-error: no such option
      mail.job({ to: 'ann' }, { later: '5m' }),
    ]
    expect(wrong).toBeTypeOf('function')
  })

  test('of enqueueMany is checked, item by item', async () => {
    const engine = start()
    const [sent, counted, cleaned] = await engine.enqueueMany([
      { job: mail, data: { to: 'ann', kind: 'card', copies: ['bob'] } },
      { job: count, data: 4, options: { priority: 1 } },
      { job: clean },
    ])
    expectTypeOf(sent).toEqualTypeOf<JobHandle<Sent>>()
    expectTypeOf(counted).toEqualTypeOf<JobHandle<number>>()
    expectTypeOf(cleaned).toEqualTypeOf<JobHandle<void>>()
    const mapped = await engine.enqueueMany(['ann', 'bob'].map((to) => ({ job: mail, data: { to } })))
    expectTypeOf(mapped).toEqualTypeOf<readonly JobHandle<Sent>[]>()
    function* each() {
      yield mail.job({ to: 'ann' })
    }
    expectTypeOf(await engine.enqueueMany(each())).toEqualTypeOf<readonly JobHandle<Sent>[]>()
    const loose: JobRequest[] = [mail.job({ to: 'ann' }), { job: 'count', data: 1 }]
    expectTypeOf(await engine.enqueueMany(loose)).toEqualTypeOf<readonly JobHandle[]>()
    function* misspelt() {
      yield { job: mail, data: { too: 1 } }
    }
    const wrong = () => [
      // @ts-expect-error: `to` is missing
      engine.enqueueMany([{ job: mail, data: { too: 1 } }]),
      // @ts-expect-error: the second is wrong
      engine.enqueueMany([mail.job({ to: 'ann' }), { job: count, data: 'four' }]),
      // @ts-expect-error: the data is missing
      engine.enqueueMany([{ job: mail }]),
      // @ts-expect-error: a card is no parcel
      engine.enqueueMany([{ job: mail, data: { to: 'ann', kind: 'parcel' } }]),
      // @ts-expect-error: no such option
      engine.enqueueMany([{ job: mail, data: { to: 'ann' }, options: { later: '5m' } }]),
      // @ts-expect-error: all of them are wrong
      engine.enqueueMany([1, 2].map((to) => ({ job: mail, data: { to } }))),
      // @ts-expect-error: those of an iterable, too
      engine.enqueueMany(misspelt()),
    ]
    expect(wrong).toBeTypeOf('function')
  })
})

describe('flows and batches', () => {
  test('check the data of each node, and name the handles', async () => {
    const engine = start()
    const { jobs } = await engine.flow([
      { ref: 'a', job: mail, data: { to: 'ann', kind: 'card', copies: ['bob'] } },
      { ref: 'b', ...count.job(4), dependsOn: ['a'] },
    ])
    expectTypeOf(jobs.a).toEqualTypeOf<JobHandle<Sent>>()
    expectTypeOf(jobs.b).toEqualTypeOf<JobHandle<number>>()
    expect([await jobs.a.result(), await jobs.b.result()]).toEqual([{ id: 3 }, 5])
    const refs: string[] = ['x', 'y']
    const many = await engine.flow(refs.map((ref) => ({ ref, job: count, data: 1 })))
    expectTypeOf(many.jobs['x']).toEqualTypeOf<JobHandle<number> | undefined>()
    const wrong = () => [
      // @ts-expect-error: `to` is missing
      engine.flow([{ ref: 'a', job: mail, data: { too: 1 } }]),
      // @ts-expect-error: the data is missing
      engine.flow([{ ref: 'a', job: mail }]),
      // @ts-expect-error: no node has that ref
      engine.flow([{ ref: 'a', job: count, data: 1, dependsOn: ['b'] }]),
      // @ts-expect-error: no such field
      engine.flow([{ ref: 'a', job: count, data: 1, needs: ['a'] }]),
      // @ts-expect-error: no such handle
      jobs.c,
    ]
    expect(wrong).toBeTypeOf('function')
  })

  test('of a batch, its jobs and its callback', async () => {
    const engine = start()
    const batch = await engine.batch([{ job: mail, data: { to: 'ann' } }, count.job(1)], count.job(2))
    expectTypeOf(batch).toEqualTypeOf<Batch<readonly [JobHandle<Sent>, JobHandle<number>], number>>()
    const wrong = () => [
      // @ts-expect-error: `to` is missing
      engine.batch([{ job: mail, data: { too: 1 } }], count.job(2)),
      // @ts-expect-error: the callback's data is a number
      engine.batch([mail.job({ to: 'ann' })], { job: count, data: 'two' }),
    ]
    expect(wrong).toBeTypeOf('function')
  })

  test('of a batch, its callbacks by how it ends', async () => {
    const engine = start()
    const { jobs, callbacks } = await engine.batch([count.job(1)], { onSuccess: count.job(2), onEnd: { job: mail, data: { to: 'ann' } } })
    expectTypeOf(jobs).toEqualTypeOf<readonly [JobHandle<number>]>()
    expectTypeOf(callbacks.onSuccess).toEqualTypeOf<JobHandle<number>>()
    expectTypeOf(callbacks.onEnd).toEqualTypeOf<JobHandle<Sent>>()
    expectTypeOf(callbacks).not.toHaveProperty('onFailure')
    const wrong = () => [
      // @ts-expect-error: there is no such callback
      engine.batch([count.job(1)], { onDone: count.job(2) }),
      // @ts-expect-error: the callback's data is a number
      engine.batch([count.job(1)], { onEnd: { job: count, data: 'two' } }),
    ]
    expect(wrong).toBeTypeOf('function')
  })

  test('parents() and parent() are typed by the definitions that the handler names', async () => {
    const { engine } = createTestEngine({ mode: 'inline' })
    onTestFinished(() => engine.stop())
    const sum = defineJob<undefined, number>({ name: 'sum' }).handler(async ({ parents, parent }) => {
      let total = 0
      for await (const one of parents<typeof count>()) {
        expectTypeOf(one).toEqualTypeOf<Parent<number>>()
        total += one.output ?? 0
      }
      for await (const one of parents()) expectTypeOf(one.output).toEqualTypeOf<unknown>()
      const first = await parent<typeof mail | typeof count>('0')
      expectTypeOf(first?.output).toEqualTypeOf<Sent | number | undefined>()
      return total
    })
    engine.work([sum, count.handler(({ data }) => data)])
    const { callback } = await engine.batch([count.job(1), count.job(2)], { job: sum.definition })
    expect((await callback.result()) satisfies number).toBe(3)
  })
})

test('schedules check the data of their jobs, and type what they answer', async () => {
  const engine = start()
  const daily = { every: '1d' } as const
  await engine.schedules.upsert('a', daily, { job: mail, data: { to: 'ann', kind: 'card' } })
  await engine.schedules.upsert('a', daily, mail.job({ to: 'ann' }))
  await engine.schedules.update<typeof mail>('a', { data: { to: 'bob' } })
  expectTypeOf((await engine.schedules.get<typeof mail>('a'))?.data?.kind).toEqualTypeOf<'letter' | 'card' | undefined>()
  expect(await (await engine.schedules.trigger<typeof mail>('a')).result()).toEqual({ id: 3 } satisfies Sent)
  const wrong = () => [
    // @ts-expect-error: `to` is missing
    engine.schedules.upsert('a', daily, { job: mail, data: { too: 1 } }),
    // @ts-expect-error: the data is missing
    engine.schedules.add('a', daily, { job: mail }),
    // @ts-expect-error: `to` is a string
    engine.schedules.update('a', { job: mail, data: { to: 1 } }),
    // @ts-expect-error: the jobs of a schedule have no `delay`
    engine.schedules.add('a', daily, { job: clean, options: { delay: '5m' } }),
  ]
  expect(wrong).toBeTypeOf('function')
})

test('jobs that are read are typed by the definition that the reader names', async () => {
  const engine = start()
  const { id } = await engine.enqueue(mail, { to: 'ann' })
  const job = await engine.get<typeof mail>(id)
  expectTypeOf(job).toEqualTypeOf<JobOf<typeof mail> | undefined>()
  expectTypeOf(await engine.get(id)).toEqualTypeOf<Job | undefined>()
  expect([job?.data.to, job?.output?.id]).toEqual(['ann', 3])
  expectTypeOf(await engine.handle<typeof mail>(id).result()).toEqualTypeOf<Sent>()
  expectTypeOf(engine.handle<Sent>(id)).toEqualTypeOf<JobHandle<Sent>>()
  expect(await engine.handle<typeof mail>(id).result()).toEqual({ id: 3 })
})

test('jobs that a test finds are typed, too', async () => {
  await using t = createTestEngine()
  await t.engine.enqueue(mail, { to: 'ann' })
  const [job] = await t.expectEnqueued(mail, { state: 'waiting' })
  expectTypeOf(job).toEqualTypeOf<JobOf<typeof mail> | undefined>()
  expect(job?.data.to).toBe('ann')
  expectTypeOf(await t.enqueued('mail')).toEqualTypeOf<readonly Job[]>()
})

test('a handler enqueues with checked data', () => {
  const handler = clean.handler(({ enqueue }) => {
    enqueue(mail, { to: 'ann' })
    // @ts-expect-error: `to` is missing
    enqueue(mail, { too: 1 })
  })
  expect(handler.kind).toBe('inline')
})

test('the data of a schema is its output, after the schema has run', () => {
  resize.handler(({ data }) => {
    expectTypeOf(data).toEqualTypeOf<{ path: string; width: number }>()
    return { bytes: 1 }
  })
  expectTypeOf<InputOf<typeof resize>>().toEqualTypeOf<{ path: string; width?: number }>()
  // @ts-expect-error: the output is declared by `returns`
  resize.handler(() => ({ size: 1 }))
  expect(resize.returns()).toBe(resize)
})

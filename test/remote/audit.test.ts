/** What needs `admin` is told to `audit` before it is answered: who, what, for what, and how it went. */
import { AuditUnavailableError, type Command, OPERATIONS, type Operation } from '@millrace/core'
import { type AuditedCall, connect } from '@millrace/remote'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { Trail } from '../../packages/remote/src/server/trail.ts'
import { COMMANDS } from '../../packages/wire/src/testing/arbitraries.ts'
import { HELLO, RawClient } from './rawClient.ts'
import { serve } from './served.ts'
import { until } from './until.ts'

const [ops, reader] = ['the token of an operator', 'the token of a dashboard']
const TOKENS = [
  { token: ops, name: 'ops' },
  { token: reader, scopes: ['read', 'enqueue'] as const },
]
const MISSING = '01a1ff30-1a62-7000-8000-0000061600c4'

async function start(audit?: (calls: readonly AuditedCall[]) => void) {
  const calls: AuditedCall[] = []
  const { url, clock } = await serve({ listen: { token: TOKENS, audit: audit ?? ((some) => calls.push(...some)) } })
  const engineOf = async (token: string) => {
    const engine = await connect(url, { token })
    onTestFinished(() => engine.stop({ timeout: 0 }))
    return engine
  }
  return { url, clock, calls, engine: await engineOf(ops), other: await engineOf(reader) }
}

test('each call, also what is refused; payloads are in none, and questions are not told', async () => {
  const { calls, engine, other, clock } = await start()
  const at = new Date(clock.read().wall)
  const { id } = await engine.enqueue('mail', { secret: 'hunter2' }, { delay: '1h' })
  await engine.update(id, { data: { secret: 'hunter3' } })
  await other.stats()
  await expect(other.cancel(id)).rejects.toMatchObject({ code: 'FORBIDDEN' })
  await expect(engine.cancel(MISSING)).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' })
  await engine.queues.pause('default')
  await engine.deleteMany({ name: 'mail', state: 'waiting' })
  await engine.deleteMany({ ids: [id, MISSING] })
  const who = { at, who: 'ops' }
  expect(calls).toEqual([
    { ...who, operation: 'update', target: { id }, outcome: 'done' },
    { at, who: 'token[1]', operation: 'cancel', target: { id }, outcome: 'refused', code: 'FORBIDDEN' },
    { ...who, operation: 'cancel', target: { id: MISSING }, outcome: 'refused', code: 'JOB_NOT_FOUND' },
    { ...who, operation: 'pause', target: { queue: 'default', paused: true }, outcome: 'done' },
    expect.objectContaining({ operation: 'deleteMany', target: expect.objectContaining({ filter: { name: 'mail', state: 'waiting' } }) }),
    expect.objectContaining({ operation: 'deleteMany', target: expect.objectContaining({ filter: { ids: 2 } }) }),
  ])
})

test('what cannot be audited is refused and does not happen; all else is answered', async () => {
  const calls: AuditedCall[] = []
  const assertAuditable = () => {
    throw new AuditUnavailableError('no room')
  }
  const { url } = await serve({ listen: { token: TOKENS, audit: (some) => void calls.push(...some), assertAuditable } })
  const engine = await connect(url, { token: ops })
  onTestFinished(() => engine.stop({ timeout: 0 }))
  const { id } = await engine.enqueue('mail', {}, { delay: '1h' })
  const refused = { code: 'AUDIT_UNAVAILABLE', message: 'no room', retryable: true }
  await expect(engine.delete(id)).rejects.toMatchObject(refused)
  await expect(engine.queues.pause('default')).rejects.toMatchObject(refused)
  await expect(engine.deleteMany({ name: 'mail' })).rejects.toMatchObject(refused)
  expect(await engine.get(id)).toMatchObject({ state: 'scheduled' })
  expect((await engine.queues.get('default'))?.paused).toBe(false)
  const failed = { who: 'ops', outcome: 'failed', code: 'AUDIT_UNAVAILABLE' }
  expect(calls).toMatchObject(['delete', 'pause', 'deleteMany'].map((operation) => ({ ...failed, operation })))
})

const ADMINS = Object.entries(OPERATIONS).flatMap(([op, { scopes }]) => (scopes.join() === 'admin' ? [op as Operation] : []))
const PAYLOADS = new Set(['data', 'meta', 'checkpoint', 'output', 'changes', 'spec'])

/** Every key at any depth. A filter may look for data. */
function keysOf(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, under]) => (key === 'filter' ? [] : [key, ...keysOf(under)]))
}

test.each(ADMINS)('%s: what it was for is told, without payloads', (op) => {
  fc.assert(
    fc.property(COMMANDS[op], (fields) => {
      const trail = new Trail({ read: () => ({ wall: 0, mono: 0 }) } as never)
      const command = { op, ...fields } as Command
      trail.ask({ id: 1, command })
      const [told] = trail.answer([{ id: 1, value: true }] as never, 'ops')
      const keys = told === undefined ? ['an export that continues'] : keysOf(told.target)
      expect(keys).not.toEqual([])
      expect(keys.filter((key) => PAYLOADS.has(key))).toEqual([])
      if (command.op === 'byKey' && !('cut' in (told?.target ?? {})))
        expect(told?.target).toMatchObject({ of: command.of, call: command.call })
    }),
    { numRuns: 30 },
  )
})

test('a schedule is told by its job’s name, and the job of a key by the key', async () => {
  const { calls, engine } = await start()
  await engine.schedules.upsert('daily', { every: '1d' }, { job: 'report', data: { secret: 1 }, options: { meta: { secret: 2 } } })
  await engine.enqueue('mail', null, { idempotencyKey: 'k', delay: '1h' })
  await engine.cancel({ name: 'mail', idempotencyKey: 'k' })
  await engine.releaseKey({ name: 'mail', idempotencyKey: 'k' })
  const of = { kind: 'idempotency', name: 'mail', key: 'k' }
  expect(calls).toMatchObject([
    { operation: 'upsertSchedule', target: { id: 'daily', job: 'report' } },
    { operation: 'byKey', target: { of, call: 'cancel' } },
    { operation: 'byKey', target: { of, call: 'release' } },
  ])
})

test('a cancel stores the name of its token with the job, unless the caller says who it was', async () => {
  const { calls, engine } = await start()
  const [one, two, bystander] = [await engine.enqueue('mail'), await engine.enqueue('mail'), await engine.enqueue('mail')]
  await engine.cancel(one.id, { reason: 'wrong file' })
  await engine.cancelMany({ ids: [two.id] }, { by: 'ada' })
  const seen = async ({ id }: { readonly id: string }) => (await engine.get(id))?.cancellation
  expect([await seen(one), await seen(two), await seen(bystander)]).toEqual([{ reason: 'wrong file', by: 'ops' }, { by: 'ada' }, undefined])
  await expect(one.result()).rejects.toMatchObject({ code: 'JOB_CANCELLED', reason: 'wrong file', by: 'ops' })
  expect(calls.map(({ who, target }) => [who, target])).toEqual([
    ['ops', { id: one.id, reason: 'wrong file' }],
    ['ops', expect.objectContaining({ filter: { ids: 1 }, by: 'ada' })],
  ])
})

test('a server without tokens knows no name for it', async () => {
  const { url } = await serve()
  const engine = await connect(url)
  onTestFinished(() => engine.stop({ timeout: 0 }))
  const { id } = await engine.enqueue('mail')
  await engine.cancel(id)
  expect(await engine.get(id)).toMatchObject({ state: 'cancelled' })
  expect(await engine.get(id)).not.toHaveProperty('cancellation')
})

test('a call of many slices is one', async () => {
  const { calls, engine } = await start()
  await engine.enqueueMany(Array.from({ length: 3_000 }, () => ({ job: 'many', data: null, options: { queue: 'q' } })))
  const { changed } = await engine.deleteMany({ name: 'many' })
  expect(changed).toBe(3_000)
  await engine.deleteMany({ name: 'many' })
  expect(calls.map(({ operation, outcome }) => [operation, outcome])).toEqual([
    ['deleteMany', 'done'],
    ['deleteMany', 'done'],
  ])
})

test('whoever leaves before the answer is told of as well', async () => {
  const { url, calls, engine } = await start()
  await engine.enqueue('later', null, { queue: 'q', delay: '1h' })
  const client = new RawClient(url)
  client.send({ ...HELLO, token: ops })
  await client.said('welcome')
  client.send({
    type: 'requests',
    requests: [
      { id: 1, command: { op: 'drainQueue', queue: 'q' } },
      { id: 2, command: { op: 'stats' } },
    ],
  })
  await client.said('delivery')
  client.socket.destroy()
  await until(() => calls.length > 0)
  expect(calls).toMatchObject([{ who: 'ops', operation: 'drainQueue', target: { queue: 'q' }, outcome: 'failed', code: 'CONNECTION_LOST' }])
})

test('it is told before the answer; one that throws is logged, and what happened is answered', async () => {
  const order: string[] = []
  const { engine } = await start((calls) => {
    order.push(...calls.map(({ operation }) => operation))
    throw new Error('the disk is full')
  })
  await engine.queues.pause('default').then(() => order.push('answered'))
  expect(order).toEqual(['pause', 'answered'])
})

/** Attacks with a token that is bound to job names and queues: on the jobs that it may not serve, by each operation that it may call. */
import {
  type AttachReply,
  type Command,
  type JobKey,
  type JobView,
  OPERATIONS,
  type Operation,
  type SessionIntro,
  type Stats,
} from '@millrace/core'
import { connect, defineJob } from '@millrace/remote'
import { sessionIntro } from '@millrace/testkit/internal'
import { expect, onTestFinished, test } from 'vitest'
import { type RawClient, welcomed } from '../remote/rawClient.ts'
import { serve } from '../remote/served.ts'

const [queued, named, both, owner] = ['bound to a queue of it', 'bound to a name of it', 'bound to both of them', 'the token of everybody']
const TOKENS = [
  { token: queued, scopes: ['work', 'read'] as const, queues: ['media'] },
  { token: named, scopes: ['work', 'read'] as const, names: ['resize'] },
  { token: both, scopes: ['work', 'read'] as const, names: ['resize'], queues: ['media'] },
  { token: owner },
]
const EVIL = [{ name: 'command', queue: 'default', data: '"forged"' }] as const
const FORBIDDEN = { refusal: { code: 'FORBIDDEN' } }

/** What a bound token may try by each operation of the scope `work` that reaches beyond its sender's own runs. */
const BEYOND: { readonly [Op in Operation]?: (run: { seq: number; run: number }) => readonly Command[] } = {
  attach: () => [{ op: 'attach', session: sessionIntro(['command'], { uuid: 'other' }), held: [] }],
  complete: (run) => [{ op: 'complete', ...run, output: null, enqueues: EVIL }],
  join: (run) => [{ op: 'join', ...run, name: 'group', jobs: EVIL }],
  snooze: (run) => (['queue', 'key'] as const).map((pause) => ({ op: 'snooze', ...run, delay: 60_000, pause })),
}

async function working(client: RawClient, admin: RawClient): Promise<{ seq: number; run: number }> {
  await client.ask({ op: 'attach', session: sessionIntro(['resize'], { queues: ['media'] }), held: [] })
  const { value } = await admin.ask({ op: 'enqueue', jobs: [{ name: 'resize', queue: 'media', concurrencyKey: 'k', data: null }] })
  const [{ seq }] = value as readonly [{ seq: number }]
  return { seq, run: 1 }
}

const viewOf = async (client: RawClient, name: string, queue?: string): Promise<JobView> => {
  const { value } = await client.ask({ op: 'enqueue', jobs: [{ name, data: null, ...(queue !== undefined && { queue }) }] })
  const [id] = value as readonly [{ seq: number; node: number; enqueuedAt: number }]
  return (await client.ask({ op: 'get', id })).value as JobView
}

test.each(Object.entries(BEYOND))('by %s, a bound token reaches no job of another name', async (_, attacks) => {
  const { url } = await serve({ listen: { token: TOKENS } })
  const [client, admin] = [await welcomed(url, named), await welcomed(url, owner)]
  const run = await working(client, admin)
  for (const attack of attacks(run)) expect(await client.ask(attack)).toMatchObject(FORBIDDEN)
  const bystander = await viewOf(admin, 'resize', 'media')
  expect((await admin.ask({ op: 'list', filter: { name: 'command' }, limit: 1 })).value).toMatchObject({ jobs: [] })
  expect((await admin.ask({ op: 'queues' })).value).toMatchObject([{ name: 'media', paused: false }])
  expect((await client.ask({ op: 'complete', ...run, output: '1' })).value).toBe(true)
  expect(bystander.queue).toBe('media')
})

test('each operation of the scope work either reaches beyond the runs of its sender here, or is listed as one that does not', () => {
  const ofWork = (Object.keys(OPERATIONS) as Operation[]).filter((op) => (OPERATIONS[op].scopes as readonly string[]).includes('work'))
  expect(ofWork.filter((op) => BEYOND[op] === undefined).toSorted()).toEqual(
    [
      'adjust',
      'checkpoint',
      'drain',
      'fail',
      'giveBack',
      'heartbeat',
      'leave',
      'log',
      'parents',
      'progress',
      'recorded',
      'renew',
      'step',
      'unwatch',
      'wait',
    ].toSorted(),
  )
})

test.each([queued, both])('a token %s does not say what jobs of other queues are given', async (token) => {
  const { url } = await serve({ listen: { token: TOKENS } })
  const [client, admin] = [await welcomed(url, token), await welcomed(url, owner)]
  const handlers: SessionIntro['handlers'] = [{ name: 'resize', defaults: { queue: 'media', maxAttempts: 1, timeout: 1 } }]
  const thief = { ...sessionIntro([], { queues: ['media'] }), handlers }
  expect(((await client.ask({ op: 'attach', session: thief, held: [] })).value as AttachReply).disputed).toEqual(['resize'])
  expect(await viewOf(admin, 'resize')).toMatchObject({ queue: 'default', maxAttempts: 4, timeout: 300_000 })
  expect((await admin.ask({ op: 'stats' })).value).toMatchObject({ definitions: [] } satisfies Partial<Stats>)
  // A worker that may define the name does so, beside it and after it has gone.
  const defined = [{ name: 'resize', defaults: { maxAttempts: 9 } }]
  const worker = { ...sessionIntro([], { uuid: 'worker', worker: 'worker' }), handlers: defined }
  expect((await admin.ask({ op: 'attach', session: worker, held: [] })).value).toEqual({ lost: [] })
  expect(((await client.ask({ op: 'attach', session: thief, held: [] })).value as AttachReply).disputed).toEqual(['resize'])
  await admin.ask({ op: 'leave', session: 'worker' })
  expect(await viewOf(admin, 'resize')).toMatchObject({ queue: 'default', maxAttempts: 9, timeout: 300_000 })
})

test('a worker whose token does not allow the outcome of a run fails it, and says why', async () => {
  const { url } = await serve({ listen: { token: TOKENS } })
  const [client, admin] = [await connect(url, { token: named }), await connect(url, { token: owner })]
  onTestFinished(async () => void (await Promise.all([client, admin].map((engine) => engine.stop({ timeout: 0 })))))
  const [resize, command] = [defineJob({ name: 'resize', maxAttempts: 1 }), defineJob({ name: 'command' })]
  client.work(resize.handler((context) => context.enqueue(command, null)))
  const failed = (await admin.enqueue(resize, null)).result()
  await expect(failed).rejects.toMatchObject({ message: expect.stringContaining("not a new job 'command'") })
  expect((await admin.list({ name: 'command' })).jobs).toEqual([])
})

test('a token that is bound to names alone defines them', async () => {
  const { url } = await serve({ listen: { token: TOKENS } })
  const [client, admin] = [await welcomed(url, named), await welcomed(url, owner)]
  const handlers: SessionIntro['handlers'] = [{ name: 'resize', defaults: { queue: 'media', maxAttempts: 7 } }]
  await client.ask({ op: 'attach', session: { ...sessionIntro([]), handlers }, held: [] })
  expect(await viewOf(admin, 'resize')).toMatchObject({ queue: 'media', maxAttempts: 7 })
  expect(await viewOf(admin, 'command')).toMatchObject({ queue: 'default', maxAttempts: 4 })
})

test.each([
  { unique: { key: 'k', onConflict: 'replace' } },
  { unique: { key: 'k', onConflict: 'reschedule' }, delay: 60_000 },
  { debounce: { key: 'k', delay: 60_000, mode: 'trailing' } },
] as const)('a token that is bound to a queue changes no waiting job of another queue by a key: %j', async (keys) => {
  const { url } = await serve({ listen: { token: TOKENS } })
  const [client, admin] = [await welcomed(url, queued), await welcomed(url, owner)]
  const run = await working(client, admin)
  const { value } = await admin.ask({ op: 'enqueue', jobs: [{ name: 'mail', queue: 'default', data: '"real"', ...keys }] })
  const [id] = value as readonly [JobKey]
  const before = (await admin.ask({ op: 'get', id })).value
  expect(before).toMatchObject({ data: '"real"' })
  const forged = { name: 'mail', queue: 'media', data: '"forged"', ...keys }
  expect(await client.ask({ op: 'complete', ...run, output: null, enqueues: [forged] })).toMatchObject(FORBIDDEN)
  expect((await admin.ask({ op: 'get', id })).value).toEqual(before)
})

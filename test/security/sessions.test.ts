/** Attacks on the sessions of other workers, by clients that know all that a reader is told, and by clients that know the uuid too. */
import { readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { type AttachReply, type Command, OPERATIONS, type Operation, type Request } from '@millrace/core'
import { sessionIntro } from '@millrace/testkit/internal'
import { bootId } from '@millrace/worker/process'
import { expect, test } from 'vitest'
import { HELLO, RawClient, welcomed } from '../remote/rawClient.ts'
import { serve } from '../remote/served.ts'
import { until } from '../remote/until.ts'
import { temporaryFolder } from '../temporary.ts'

const [owner, thiefs, readers] = ['the token of the worker', 'the token of the thief', 'the token of a reader']
const TOKENS = [
  { token: owner },
  { token: thiefs, scopes: ['work', 'read'] as const, names: ['other'] },
  { token: readers, scopes: ['read'] as const },
]
const SECRET = '5ec7e7aa-session'
const worker = (names: readonly string[] = ['a']) => sessionIntro(names, { uuid: SECRET, worker: 'worker', local: false })

const id = { seq: 1, node: 0, enqueuedAt: 0 }

/** A call of each operation that a reader may make. */
const READINGS: { readonly [Op in Operation]?: readonly Command[] } = {
  workers: [{ op: 'workers' }],
  get: [{ op: 'get', id }],
  getByKey: [{ op: 'getByKey', of: { kind: 'unique', name: 'a', key: 'k' } }],
  logs: [{ op: 'logs', id, limit: 10 }],
  steps: [{ op: 'steps', id, after: 0, limit: 10 }],
  explain: [{ op: 'explain', id }],
  getFlow: [{ op: 'getFlow', id, limit: 10 }],
  listFlows: [{ op: 'listFlows', limit: 10 }],
  list: [{ op: 'list', filter: {}, limit: 10, lastRun: true }],
  watch: [],
  unwatch: [{ op: 'unwatch', request: 99 }],
  queues: [{ op: 'queues' }],
  queueKeys: [{ op: 'queueKeys', queue: 'default', limit: 10 }],
  stats: [{ op: 'stats' }],
  subscribe: [{ op: 'subscribe', on: true }],
  events: [{ op: 'events', after: 0, filter: {} }],
  exports: [{ op: 'exports' }],
  history: [{ op: 'history', queue: 'default', step: 'minute', from: 0 }],
  failures: [{ op: 'failures', limit: 10, trend: 'hour' }],
  getSchedule: [{ op: 'getSchedule', id: 's', times: 1 }],
  listSchedules: [{ op: 'listSchedules', prefix: '', limit: 10 }],
}

test.each([
  ['with tokens', { token: TOKENS }],
  ['without tokens', {}],
])('attack 6: nothing that a reader is told has the uuid of a session, %s', async (_, listen) => {
  const { url } = await serve({ listen })
  const [client, other, reader] = [await welcomed(url, owner), await welcomed(url, owner), await welcomed(url, readers)]
  await reader.ask({ op: 'subscribe', on: true })
  const handlers = (priority: number) => [{ name: 'a', defaults: { priority } }]
  await other.ask({ op: 'attach', session: { ...sessionIntro([], { uuid: 'first', worker: 'first' }), handlers: handlers(1) }, held: [] })
  await client.ask({ op: 'attach', session: { ...worker(), handlers: handlers(2) }, held: [] })
  await client.ask({ op: 'enqueue', jobs: [{ name: 'a', data: null }] })
  const ofReaders = (Object.keys(OPERATIONS) as Operation[]).filter((op) => (OPERATIONS[op].scopes as readonly string[]).includes('read'))
  expect(Object.keys(READINGS).toSorted()).toEqual(ofReaders.toSorted())
  for (const calls of Object.values(READINGS)) for (const call of calls) await reader.ask(call)
  await client.ask({ op: 'drain', session: SECRET })
  await client.ask({ op: 'complete', seq: 1, run: 1, output: null })
  await client.ask({ op: 'leave', session: SECRET })
  const told = (await reader.ask({ op: 'events', after: 0, filter: {} })).value
  expect(JSON.stringify(told)).toMatch(/worker.disputed.*worker.draining.*worker.left/)
  expect(JSON.stringify([reader.heard, told])).not.toContain(SECRET)
})

/** What a thief may say of a session whose uuid it knows. */
const DEEDS: { readonly [Op in Operation]?: (held: { seq: number; run: number }) => readonly Command[] } = {
  attach: (run) => [{ op: 'attach', session: { ...worker(['other']), worker: 'thief' }, held: [run] }],
  adjust: () => [{ op: 'adjust', session: SECRET, minConcurrency: 7, maxConcurrency: 7, paused: true }],
  drain: () => [{ op: 'drain', session: SECRET }],
  leave: () => [{ op: 'leave', session: SECRET }],
}

test('each operation that names a session is among the deeds of a thief', () => {
  const withRun = [
    'complete',
    'fail',
    'snooze',
    'join',
    'giveBack',
    'step',
    'wait',
    'recorded',
    'heartbeat',
    'checkpoint',
    'progress',
    'log',
    'parents',
  ]
  const ofWork = (Object.keys(OPERATIONS) as Operation[]).filter((op) => (OPERATIONS[op].scopes as readonly string[]).includes('work'))
  // Attacks of test/security/workers.test.ts name a run; `renew` and `unwatch` name nothing that another connection has.
  expect(ofWork.filter((op) => !withRun.includes(op) && op !== 'renew' && op !== 'unwatch').toSorted()).toEqual(
    Object.keys(DEEDS).toSorted(),
  )
})

test.each(Object.entries(DEEDS))('attack 7: by %s, a token reaches no session that another token has opened', async (_, deeds) => {
  const { url } = await serve({ listen: { token: TOKENS } })
  const [client, thief] = [await welcomed(url, owner), await welcomed(url, thiefs)]
  await client.ask({ op: 'attach', session: worker(), held: [] })
  await client.ask({ op: 'enqueue', jobs: [{ name: 'a', data: '1' }] })
  const run = { seq: 1, run: 1 }
  for (const deed of deeds(run)) {
    const { value } = await thief.ask(deed)
    if (deed.op === 'attach') expect((value as AttachReply).lost).toEqual([run])
  }
  const workers = (await client.ask({ op: 'workers' })).value
  expect(workers).toContainEqual(
    expect.objectContaining({ id: 'worker', draining: false, paused: false, maxConcurrency: 10, runningJobs: 1 }),
  )
  expect((await thief.ask({ op: 'complete', ...run, output: '"forged"' })).refusal?.code).toBe('STALE_RUN')
  expect((await client.ask({ op: 'complete', ...run, output: '"real"' })).value).toBe(true)
})

test('attack 8: after a restart, a token adopts no run of a session that another token has opened', async () => {
  const file = join(temporaryFolder(), 'jobs.db')
  const before = await serve({ file, listen: { token: TOKENS } })
  const client = await welcomed(before.url, owner)
  await client.ask({ op: 'attach', session: worker(), held: [] })
  await client.ask({ op: 'enqueue', jobs: [{ name: 'a', data: '1' }] })
  await before.close()
  const { url } = await serve({ file, listen: { token: TOKENS } })
  const [thief, again] = [await welcomed(url, thiefs), await welcomed(url, owner)]
  const run = { seq: 1, run: 1 }
  const { value } = await thief.ask({ op: 'attach', session: worker(['other']), held: [run] })
  expect((value as AttachReply).lost).toEqual([run])
  await thief.ask({ op: 'leave', session: SECRET })
  expect((await again.ask({ op: 'attach', session: worker(), held: [run] })).value).toEqual({ lost: [] })
  expect((await again.ask({ op: 'complete', ...run, output: '"real"' })).value).toBe(true)
})

test('attack 9: a client that claims to have died takes no session of another token with it', async ({ skip }) => {
  if (process.platform !== 'linux') skip('what tells processes apart is read from /proc')
  const dead: string[] = []
  const { url } = await serve({ listen: { token: TOKENS }, declareDead: (sessions) => dead.push(...sessions) })
  const client = await welcomed(url, owner)
  await client.ask({ op: 'attach', session: worker(), held: [] })
  const thief = new RawClient(url)
  const dying = `${bootId()}:${readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')}:${process.pid}:0`
  thief.send({ ...HELLO, token: thiefs, client: { ...HELLO.client, process: dying } })
  await thief.said('welcome')
  await thief.ask({ op: 'attach', session: worker(['other']), held: [] })
  thief.socket.destroy()
  await until(() => dead.length > 0)
  expect(dead).not.toContain(SECRET)
})

test('a worker that comes back by another connection with its token has its runs; grants and notices name its own uuid', async () => {
  const { url } = await serve({ listen: { token: TOKENS } })
  const [client, admin] = [await welcomed(url, owner), await welcomed(url, owner)]
  await client.ask({ op: 'attach', session: worker(), held: [] })
  await admin.ask({ op: 'enqueue', jobs: [{ name: 'a', data: '1' }] })
  client.socket.destroy()
  const again = await welcomed(url, owner)
  const requests: readonly Request[] = [{ id: 1, command: { op: 'attach', session: worker(), held: [{ seq: 1, run: 1 }] } }]
  again.send({ type: 'requests', requests })
  expect((await again.said('delivery')).delivery.replies).toEqual([{ id: 1, value: { lost: [] } }])
  await admin.ask({ op: 'enqueue', jobs: [{ name: 'a', data: '2' }] })
  await admin.ask({ op: 'stopWorker', worker: 'worker', timeout: 1_000 })
  const told = () => again.heard.flatMap((message) => (message.type === 'delivery' ? [message.delivery] : []))
  await until(() => told().some(({ notices }) => notices.length > 0))
  expect(told().flatMap(({ notices }) => notices)).toMatchObject([{ kind: 'stop', session: SECRET }])
  expect(told().flatMap(({ grants }) => grants)).toMatchObject([{ seq: 2, session: SECRET }])
})

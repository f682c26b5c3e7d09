/** Tokens whose scope `work` is bound to names and queues: what is outside is refused here, and never reaches the engine. */
import { connect, defineJob, type Permit } from '@millrace/remote'
import { sessionIntro } from '@millrace/testkit/internal'
import { expect, onTestFinished, test } from 'vitest'
import { HELLO, RawClient } from './rawClient.ts'
import { serve } from './served.ts'

const [bound, free] = ['the token of a worker', 'the token of everybody']
const TOKENS = [{ token: bound, scopes: ['work', 'read'] as const, names: ['resize'], queues: ['media'] }, { token: free }]
const [resize, report] = [defineJob({ name: 'resize', queue: 'media' }), defineJob({ name: 'report', queue: 'media' })]

test('a worker that serves what its token is bound to works; what is outside is refused, with what is allowed', async () => {
  const { probe } = await serve({ listen: { token: TOKENS } })
  const [client, other] = [await probe({ token: bound }), await probe({ token: free })]
  const attach = (names: readonly string[], queues?: readonly string[]) => client.attach(names, queues === undefined ? {} : { queues })
  const refused = (message: RegExp) => ({ code: 'FORBIDDEN', retryable: false, message: expect.stringMatching(message) })
  await expect(attach(['report'], ['media'])).rejects.toMatchObject(refused(/job name 'resize' only, not 'report'/))
  await expect(attach(['resize'], ['media', 'mail'])).rejects.toMatchObject(refused(/queue 'media' only, not 'mail'/))
  await expect(attach(['resize'])).rejects.toMatchObject(refused(/queue 'media' only, not all of them: name them/))
  expect(await other.call<'workers'>({ op: 'workers' })).toEqual([])
  await attach(['resize'], ['media'])
  await other.attach(['report'], { uuid: 'other', worker: 'other' })
  expect(await other.call<'workers'>({ op: 'workers' })).toHaveLength(2)
})

test('a completion creates jobs within the binding only', async () => {
  const { probe } = await serve({ listen: { token: TOKENS } })
  const [client, other] = [await probe({ token: bound }), await probe({ token: free })]
  await client.attach(['resize'], { queues: ['media'] })
  await other.call({ op: 'enqueue', jobs: [{ name: 'resize', queue: 'media', data: null }] })
  const { seq, run } = await client.grants.take()
  const complete = (name: string, queue?: string) => {
    const job = { name, data: null, ...(queue !== undefined && { queue }) }
    return client.call({ op: 'complete', seq, run, output: null, enqueues: [job] })
  }
  for (const [name, queue] of [['report', 'media'], ['resize', 'mail'], ['resize']] as const)
    await expect(complete(name, queue)).rejects.toMatchObject({ code: 'FORBIDDEN' })
  expect((await other.call<'stats'>({ op: 'stats' })).states).toMatchObject({ active: 1, waiting: 0 })
  await complete('resize', 'media')
  expect((await other.call<'stats'>({ op: 'stats' })).states).toMatchObject({ completed: 1 })
})

test('a token that is bound while it is connected: its connection ends where it serves less, and goes on where it serves more', async () => {
  let permit: Permit = { scopes: ['work', 'read'], names: ['report'] }
  const { server, url } = await serve({ listen: { authenticate: () => permit } })
  const client = new RawClient(url)
  client.send({ ...HELLO, token: bound })
  await client.said('welcome')
  permit = { scopes: ['work', 'read'], names: ['resize', 'report'] }
  server.recheck()
  const session = sessionIntro(['resize', 'report'])
  client.send({ type: 'requests', requests: [{ id: 1, command: { op: 'attach', session, held: [] } }] })
  const { delivery } = await client.said('delivery')
  expect(delivery.replies).toMatchObject([{ id: 1, value: { lost: [] } }])
  permit = { scopes: ['work', 'read'], names: ['resize'] }
  server.recheck()
  expect(await client.said('goodbye')).toMatchObject({ code: 'CLOSING', message: expect.stringContaining('allows less') })
})

test('the log of a worker that is refused says why; one within its binding is attached', async () => {
  const { url } = await serve({ listen: { token: TOKENS } })
  const { promise: said, resolve } = Promise.withResolvers<unknown>()
  const logger = { debug() {}, info() {}, warn() {}, error: (message: string, fields?: object) => resolve([message, fields]) }
  const engine = await connect(url, { token: bound, logger })
  onTestFinished(() => engine.stop({ timeout: 0 }))
  engine.work([resize.handler(() => 1), report.handler(() => 1)], { queues: ['media'] })
  expect(await said).toEqual([
    'a worker could not attach to its engine',
    expect.objectContaining({ error: expect.stringContaining("not 'report'") }),
  ])
  const within = engine.work(
    resize.handler(() => 1),
    { queues: ['media'] },
  )
  expect(await engine.workers()).toMatchObject([{ id: within.id }])
})

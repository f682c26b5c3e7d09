/** Attempts to set an idempotency key of Millrace itself without the scope `admin`: by each operation and each route that takes keys. */
import { type Command, OPERATIONS, type Operation, SCOPES } from '@millrace/core'
import { sessionIntro } from '@millrace/testkit/internal'
import { expect, onTestFinished, test } from 'vitest'
import { testApi } from '../../packages/http/src/testing/api.ts'
import { openInThread } from '../../packages/testkit/src/testing/inThread.ts'
import { welcomed } from '../remote/rawClient.ts'
import { serve } from '../remote/served.ts'

const [PRODUCER, OWNER] = ['the-token-of-a-producer', 'the-token-of-everybody']
const TOKENS = [{ token: PRODUCER, scopes: SCOPES.filter((scope) => scope !== 'admin'), name: 'producer' }, { token: OWNER }]
const KEY = 'millrace:endpoint:shop:17'
const JOBS = [
  { name: 'http', data: null },
  { name: 'http', data: null, idempotencyKey: KEY },
] as const

/** A command with the key, of each operation that carries jobs with keys. */
const SETTING: { readonly [Op in Operation]?: (run: { readonly seq: number; readonly run: number }, at: number) => Command } = {
  enqueue: () => ({ op: 'enqueue', jobs: JOBS }),
  forward: (_run, at) => ({ op: 'forward', source: 'journal', number: 1, first: 1, entries: [{ at, jobs: JOBS }] }),
  flow: () => ({ op: 'flow', nodes: [{ ref: 'a', job: JOBS[0], parents: [], onFailure: 'fail' }], idempotencyKey: KEY }),
  complete: (run) => ({ op: 'complete', ...run, output: null, enqueues: JOBS }),
}

test.each(Object.entries(SETTING))('%s sets no reserved key without the scope admin, and nothing of it happens', async (_op, commandOf) => {
  const { url, clock } = await serve({ listen: { token: TOKENS } })
  const [producer, owner] = [await welcomed(url, PRODUCER), await welcomed(url, OWNER)]
  await producer.ask({ op: 'attach', session: sessionIntro(['run']), held: [] })
  const { value } = await owner.ask({ op: 'enqueue', jobs: [{ name: 'run', data: null }] })
  const [{ seq }] = value as readonly [{ seq: number }]
  const command = commandOf({ seq, run: 1 }, clock.read().wall)
  const refused = await producer.ask(command)
  const refusal = { code: 'FORBIDDEN', message: expect.stringContaining(`got '${KEY}'`) }
  // Of a journal, that entry alone is refused, and the others go on.
  expect(refused).toMatchObject(command.op === 'forward' ? { value: { refused: { refusal } } } : { refusal })
  const jobs = async () => ((await owner.ask({ op: 'list', filter: { name: 'http' }, limit: 9 })).value as { jobs: unknown[] }).jobs
  expect(await jobs()).toEqual([])
  // The bystander: the same by its owner, who holds a run of its own where one is needed.
  if (command.op === 'complete') return
  expect((await owner.ask(command.op === 'forward' ? { ...command, source: 'own', number: 2 } : command)).refusal).toBeUndefined()
  expect((await jobs()).length).toBeGreaterThan(0)
})

test('each operation with new jobs sets keys here, or is listed as one that takes none', () => {
  const carrying = (Object.keys(OPERATIONS) as Operation[]).filter((op) => 'newJobs' in OPERATIONS[op])
  expect(carrying.filter((op) => SETTING[op] === undefined)).toEqual(['join', 'upsertSchedule'])
})

test('each route that takes keys refuses reserved ones, in the header and in the body, unless the token has the scope admin', async () => {
  const engine = openInThread()
  onTestFinished(() => engine.stop())
  const http = testApi(engine, { token: TOKENS })
  const options = { idempotencyKey: KEY }
  const lines = { raw: '1\n', headers: { 'content-type': 'application/x-ndjson' } }
  const attempts: Readonly<Record<string, readonly (readonly [path: string, sent: Parameters<typeof http.send>[2]])[]>> = {
    enqueue: [
      ['/v1/jobs', { body: { job: 'http', options } }],
      ['/v1/jobs', { body: { job: 'http' }, headers: { 'idempotency-key': KEY } }],
    ],
    enqueueMany: [
      ['/v1/jobs:bulk', { body: [{ job: 'a' }, { job: 'http', options }] }],
      ['/v1/jobs:bulk', { body: [{ job: 'a' }], headers: { 'idempotency-key': KEY } }],
    ],
    importJobs: [['/v1/jobs:import?name=http', { ...lines, headers: { ...lines.headers, 'idempotency-key': KEY } }]],
    createFlow: [
      ['/v1/flows', { body: { nodes: [{ ref: 'a', job: 'http' }], options } }],
      ['/v1/flows', { body: { nodes: [{ ref: 'a', job: 'http' }] }, headers: { 'idempotency-key': KEY } }],
    ],
  }
  expect(
    http.operations
      .filter(({ headers, method, scope }) => headers !== undefined && method === 'post' && scope !== 'send')
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(Object.keys(attempts).toSorted())
  for (const [path, sent] of Object.values(attempts).flat()) {
    const refused = await http.send('POST', path, { ...sent, token: PRODUCER })
    expect([path, refused.status, refused.body.code]).toEqual([path, 403, 'FORBIDDEN'])
  }
  expect((await engine.stats()).totals.enqueued).toBe(0)
  for (const [path, sent] of Object.values(attempts).flat())
    expect((await http.send('POST', path, { ...sent, token: OWNER })).status, path).toBeLessThan(300)
})

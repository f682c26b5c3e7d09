/** D2: jobs that the daemon serves itself are held against their schemas when they are posted, by whichever way. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineJob, openEngine } from '@millrace/engine'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { attached, startDaemonHere, tokenIn } from './daemon.ts'
import { Place } from './millrace.ts'

const GOOD = { url: 'https://example.com/' }
const BAD: readonly [unknown, string][] = [
  [{ nourl: 1 }, 'is not known'],
  ['x', 'a webhook is'],
  [{ url: 'ftp://x/' }, 'url'],
  [{ url: 'http://127.0.0.1:9/', timeout: '25h' }, 'timeout'],
  [undefined, 'a webhook is'],
]
const LATER = { delay: '1h' } as const

async function served() {
  const folder = temporaryFolder()
  const daemon = startDaemonHere(folder, { env: { MILLRACE_WEBHOOKS_ENABLED: 'true' } })
  const { url } = await daemon.serving
  const send = async (method: string, path: string, body: unknown, type = 'application/json') => {
    const headers = { authorization: `Bearer ${tokenIn(folder)}`, 'content-type': type }
    const response = await fetch(`${url}${path}`, { method, headers, body: typeof body === 'string' ? body : JSON.stringify(body) })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  return { folder, daemon, send }
}

test('over HTTP: one, many, flows, schedules and imports', async () => {
  const { folder, daemon, send } = await served()
  const refused = (message: string) => ({ status: 400, body: { code: 'VALIDATION', detail: expect.stringContaining(message) } })
  for (const [data, message] of BAD) {
    const job = { job: 'http', ...(data !== undefined && { data }) }
    expect(await send('POST', '/v1/jobs', { ...job, options: LATER })).toMatchObject(refused(message))
    expect(await send('POST', '/v1/jobs:bulk', [{ job: 'other', options: LATER }, job])).toMatchObject(refused('jobs[1]: '))
    expect(await send('PUT', '/v1/schedules/hook', { every: '1h', ...job })).toMatchObject(refused(message))
    expect(await send('POST', '/v1/schedules', { id: 'hook', every: '1h', ...job })).toMatchObject(refused(message))
    expect(await send('POST', '/v1/flows', { nodes: [{ ref: 'a', ...job }] })).toMatchObject(refused(message))
  }
  const lines = [GOOD, { nourl: 1 }, GOOD].map((line) => JSON.stringify(line)).join('\n')
  expect((await send('POST', '/v1/jobs:import?name=http&delay=1h', lines, 'application/x-ndjson')).body).toMatchObject({
    created: 2,
    refused: 1,
    errors: [{ line: 2, code: 'VALIDATION' }],
  })
  // Others are nothing to it, and what is right is taken.
  expect(await send('POST', '/v1/jobs', { job: 'other', data: { nourl: 1 } })).toMatchObject({ status: 201 })
  expect(await send('POST', '/v1/jobs', { job: 'http', data: GOOD, options: LATER })).toMatchObject({ status: 201 })
  expect((await send('PUT', '/v1/schedules/hook', { every: '1h', job: 'http', data: GOOD })).status).toBeLessThan(300)
  for (const [data, message] of BAD)
    if (data !== undefined) expect(await send('PATCH', '/v1/schedules/hook', { data })).toMatchObject(refused(message))
  const engine = await attached(daemon, folder)
  expect((await engine.stats()).totals.enqueued).toBe(4)
  expect((await engine.schedules.list()).schedules).toHaveLength(1)
})

test('by the sockets: of listen and of share, and so on the command line', async () => {
  const { folder, daemon } = await served()
  const shared = await openEngine({ file: join(folder, 'millrace.db'), share: true })
  onTestFinished(() => shared.stop({ timeout: 0 }))
  for (const engine of [await attached(daemon, folder), shared]) {
    for (const [data, message] of BAD) {
      const wrong = { code: 'VALIDATION', issues: expect.any(Array), message: expect.stringContaining(message) }
      await expect(engine.enqueue('http', data, LATER)).rejects.toMatchObject(wrong)
      await expect(engine.schedules.upsert('hook', { every: '1h' }, { job: 'http', data })).rejects.toMatchObject(wrong)
      await expect(engine.flow([{ ref: 'a', job: 'http', data }])).rejects.toMatchObject(wrong)
    }
    await engine.enqueue('http', GOOD, LATER)
    await engine.enqueue(defineJob({ name: 'other' }), { nourl: 1 })
  }
  const place = new Place()
  place.env['MILLRACE_FILE'] = join(folder, 'millrace.db')
  const { code, stdout, stderr } = await place.run('enqueue', 'http', '{"nourl":1}')
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining('does not satisfy its schema')])
  await place.ok('enqueue', 'http', JSON.stringify(GOOD), '--delay', '1h')
  expect((await shared.stats()).totals.enqueued).toBe(5)
})

test('in the configuration: nothing is served, and it says why', async () => {
  const folder = temporaryFolder()
  const schedules = JSON.stringify({ hook: { every: '1h', job: 'http', data: { nourl: 1 } } })
  const daemon = startDaemonHere(folder, { env: { MILLRACE_WEBHOOKS_ENABLED: 'true', MILLRACE_SCHEDULES: schedules } })
  const { code, stderr } = await daemon.ended
  expect([code, stderr]).toEqual([2, expect.stringContaining("'schedules.hook': the data of job 'http' does not satisfy its schema")])
})

test('handlers of modules, by their own schemas', async () => {
  const folder = temporaryFolder()
  const schema = `{ '~standard': { version: 1, vendor: 'x', validate: (value) => (value?.to ? { value } : { issues: [{ message: 'needs to' }] }) } }`
  writeFileSync(
    join(folder, 'jobs.mjs'),
    `export const mail = { kind: 'inline', definition: { name: 'mail', defaults: {}, schema: ${schema} }, run: () => 'sent' }`,
  )
  const daemon = startDaemonHere(folder, { flags: { 'worker-handlers': 'jobs.mjs' } })
  await daemon.serving
  const engine = await attached(daemon, folder)
  await expect(engine.enqueue('mail', {})).rejects.toMatchObject({ code: 'VALIDATION', message: expect.stringContaining('needs to') })
  expect(await (await engine.enqueue('mail', { to: 'a' })).result()).toBe('sent')
})

// What a worker process takes of its --config: what millrace serve would, whichever layer says it.
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { verify } from '@millrace/webhooks'
import { expect, onTestFinished, test } from 'vitest'
import { Place } from './millrace.ts'

const LONG = 300_000
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const ANYWHERE = { enabled: true, allowPrivate: true, allowHttp: true, ports: 'any' }

async function receiver() {
  const received: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = []
  const server = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) })
    response.end('thanks')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received }
}

/** A worker of that configuration on a file, beside a job that it does not serve. */
async function workerOf(config: unknown, env: Readonly<Record<string, string>>) {
  const place = new Place()
  // Of another engine, and too short for a daemon's: it says how the command line reaches one, and is no setting of a worker.
  Object.assign(place.env, env, { MILLRACE_TOKEN: 'short' })
  writeFileSync(place.path('worker.json'), JSON.stringify(config))
  const bystander = (await place.ok('enqueue', 'other')).trim()
  const worker = place.start('worker', 'start', '--config', place.path('worker.json'))
  await worker.said(/is ready/)
  const deliver = async (data: unknown) => {
    const id = (await place.ok('enqueue', 'http', JSON.stringify(data), '--max-attempts', '1')).trim()
    await place.ok('jobs', 'logs', '-f', id)
    return place.okJson('jobs', 'show', id)
  }
  const end = async () => {
    expect(await place.okJson('jobs', 'show', bystander)).toMatchObject({ state: 'waiting', attempt: 0 })
    worker.child.kill('SIGTERM')
    expect((await worker.ended).code).toBe(0)
  }
  return { deliver, end }
}

test('a secret that a variable holds signs what it delivers', { timeout: LONG }, async () => {
  const { url, received } = await receiver()
  const variables = { MILLRACE_WEBHOOKS_SECRETS: JSON.stringify({ trial: { keys: SECRET, hosts: ['127.0.0.1'] } }) }
  const { deliver, end } = await workerOf({ webhooks: ANYWHERE }, variables)
  expect(await deliver({ url, body: { order: 42 }, secret: 'trial' })).toMatchObject({ state: 'completed', output: { status: 200 } })
  expect(received).toHaveLength(1)
  const [{ headers, body } = { headers: {}, body: '' }] = received
  expect(() => verify({ headers, body, secret: SECRET })).not.toThrow()
  await end()
})

test.for(['MILLRACE_ENV', 'NODE_ENV'])(
  'the section of the environment that %s names counts: its allow-list is kept',
  {
    timeout: LONG,
  },
  async (variable) => {
    const { url, received } = await receiver()
    const config = { webhooks: ANYWHERE, $production: { webhooks: { allowHosts: ['hooks.example.com'] } } }
    const { deliver, end } = await workerOf(config, { [variable]: 'production' })
    expect(await deliver({ url, body: 1 })).toMatchObject({ state: 'failed', attempt: 1 })
    expect(received).toEqual([])
    await end()
  },
)

test('a variable that sets nothing is refused, as millrace serve refuses it', async () => {
  const place = new Place()
  Object.assign(place.env, { MILLRACE_WEBHOOK_SECRETS: '{}' })
  writeFileSync(place.path('worker.json'), JSON.stringify({ webhooks: ANYWHERE }))
  expect(await place.run('worker', 'start', '--config', place.path('worker.json'))).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/unknown variable 'MILLRACE_WEBHOOK_SECRETS' in the environment: .*MILLRACE_WEBHOOKS_SECRETS/),
  })
})

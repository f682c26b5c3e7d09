/** Attacks on webhooks with a token that may do no more than enqueue, against a daemon that is served as it is. */
import { join } from 'node:path'
import { verify } from '@millrace/webhooks'
import { expect, onTestFinished, test } from 'vitest'
import { Control } from '../../apps/millrace/src/control/control.ts'
import { SYSTEM } from '../../apps/millrace/src/control/surroundings.ts'
import { type Received, type Receiver, receiver } from '../../packages/webhooks/src/testing/receiver.ts'
import { type Daemon, startDaemon, tokenIn } from '../app/daemon.ts'
import { temporaryFolder } from '../temporary.ts'

const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`
const ANYWHERE = {
  MILLRACE_WEBHOOKS_ENABLED: 'true',
  MILLRACE_WEBHOOKS_ALLOW_PRIVATE: 'true',
  MILLRACE_WEBHOOKS_ALLOW_HTTP: 'true',
  MILLRACE_WEBHOOKS_PORTS: 'any',
}

type Caller = (method: string, path: string, body?: unknown) => Promise<{ readonly status: number; readonly body: Record<string, unknown> }>

async function callerOf(daemon: Daemon, token: string): Promise<Caller> {
  const { url } = await daemon.serving
  return async (method, path, body) => {
    const headers = { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) }
    const response = await fetch(`${url}${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
    const text = await response.text()
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
  }
}

/** A daemon, its admin, and one who may enqueue. */
async function attacked(env: Readonly<Record<string, string>>) {
  const folder = temporaryFolder()
  const daemon = startDaemon(folder, { env: { ...ANYWHERE, ...env } })
  await daemon.serving
  const control = new Control(join(folder, 'millrace.db'), SYSTEM)
  onTestFinished(() => control.close())
  const { token } = control.createToken({ name: 'attacker', scopes: ['enqueue'] })
  return { admin: await callerOf(daemon, tokenIn(folder)), attacker: await callerOf(daemon, token) }
}

/** The job, once its first run has ended. */
async function tried(admin: Caller, id: unknown): Promise<Record<string, unknown>> {
  for (;;) {
    const { body } = await admin('GET', `/v1/jobs/${String(id)}`)
    if ((body['attempts'] as unknown[]).length > 0 && body['state'] !== 'active') return body
  }
}

test('6: no secret signs what an enqueue token asks for: not for another host, not for its own receiver', async () => {
  const [trial, shop, attackers] = [await receiver(), await receiver(), await receiver()]
  const { admin, attacker } = await attacked({
    // Hosts have no ports: of the two on this machine the attacker's has another name.
    MILLRACE_WEBHOOKS_SECRETS: JSON.stringify({
      trial: { keys: secretOf(1), hosts: ['localhost'] },
      shop: secretOf(2),
      spare: secretOf(3),
    }),
    MILLRACE_ENDPOINTS: JSON.stringify({ shop: { url: shop.url, events: ['enqueued'], secret: 'shop', names: ['order'] } }),
  })
  const body = { type: 'payment.completed', amount: 1_000_000 }
  const attacks = [
    { url: attackers.url, secret: 'trial' },
    { url: attackers.url, secret: 'shop' },
    { url: shop.url, secret: 'shop' },
    { url: shop.url, secret: 'spare' },
    { url: trial.url, secret: 'trial' },
  ]
  for (const { url, secret } of attacks) {
    for (const more of [{}, { tags: ['endpoint:shop'] }]) {
      const posted = await attacker('POST', '/v1/jobs', { job: 'http', data: { url, body, secret }, options: more })
      expect(posted.status).toBe(201)
      expect(await tried(admin, posted.body['id'])).toMatchObject({
        state: 'failed',
        attempts: [{ error: { name: 'SecretRefusedError' } }],
      })
    }
  }
  // The bystanders: what the secrets are for is delivered, and signed.
  const url = trial.url.replace('127.0.0.1', 'localhost')
  const posted = await attacker('POST', '/v1/jobs', { job: 'http', data: { url, body, secret: 'trial' } })
  expect(await tried(admin, posted.body['id'])).toMatchObject({ state: 'completed' })
  await attacker('POST', '/v1/jobs', { job: 'order' })
  await shop.until(1)
  const signedBy = ({ received }: Receiver, secret: string) =>
    received.map(({ headers, body: bytes }: Received) => verify({ headers, body: bytes, secret }).id)
  expect([signedBy(trial, secretOf(1)).length, signedBy(shop, secretOf(2)).length, attackers.connections]).toEqual([1, 1, 0])
})

test('6: what an endpoint was told cannot be told anew, with other words or to somebody else', async () => {
  const [shop, attackers] = [await receiver(), await receiver()]
  const { admin, attacker } = await attacked({
    MILLRACE_WEBHOOKS_SECRETS: JSON.stringify({ shop: secretOf(2) }),
    MILLRACE_ENDPOINTS: JSON.stringify({ shop: { url: shop.url, events: ['enqueued'], secret: 'shop', names: ['order'] } }),
  })
  await attacker('POST', '/v1/jobs', { job: 'order' })
  await shop.until(1)
  const [{ id }] = (await admin('GET', '/v1/jobs?queue=webhooks')).body['jobs'] as [{ id: string }]
  // Of one who may read, too.
  const { data } = (await admin('GET', `/v1/jobs/${id}`)).body as { data: Record<string, unknown> }
  expect(data).toMatchObject({ proof: expect.any(String) })
  for (const change of [{ url: attackers.url }, { body: 'forged' }, { headers: { 'x-own': 'forged' } }]) {
    const posted = await attacker('POST', '/v1/jobs', { job: 'http', data: { ...data, ...change }, options: { maxAttempts: 1 } })
    expect(await tried(admin, posted.body['id'])).toMatchObject({ state: 'failed', attempts: [{ error: { name: 'SecretMissingError' } }] })
  }
  expect([shop.received.length, attackers.connections]).toEqual([1, 0])
})

test('11: webhooks to hosts that do not answer take no place of a command, nor of event webhooks', async () => {
  const [silent, others] = [await Promise.all(Array.from({ length: 4 }, () => receiver(() => {}))), await receiver()]
  const { admin, attacker } = await attacked({
    MILLRACE_WEBHOOKS_CONCURRENCY: '16',
    MILLRACE_WEBHOOKS_TIMEOUT: '4m',
    MILLRACE_EXEC: JSON.stringify({ report: { file: '/bin/echo', args: ['reported'] } }),
    MILLRACE_ENDPOINTS: JSON.stringify({ told: { url: others.url, events: ['completed'], names: ['report'] } }),
  })
  const slow = Array.from({ length: 20 }, () => silent.map(({ url }) => ({ job: 'http', data: { url, timeout: '4m' } }))).flat()
  expect((await attacker('POST', '/v1/jobs:bulk', slow)).status).toBe(201)
  // All places of webhooks are taken, four by each host.
  await Promise.all(silent.map((one) => one.until(4)))
  const posted = await attacker('POST', '/v1/jobs', { job: 'report' })
  expect(await tried(admin, posted.body['id'])).toMatchObject({ state: 'completed', output: { stdout: { head: 'reported\n' } } })
  await others.until(1)
  expect(JSON.parse(String(others.received[0]?.body))).toMatchObject({ type: 'job.completed', data: { jobId: posted.body['id'] } })
  // The attack goes on.
  const { body } = await admin('GET', '/v1/stats')
  expect(body).toMatchObject({ states: { completed: 2 } })
})

test('11: a job waits for an answer no longer than webhooks.maxTimeout allows', async () => {
  const silent = await receiver(() => {})
  const { admin, attacker } = await attacked({ MILLRACE_WEBHOOKS_TIMEOUT: '50ms', MILLRACE_WEBHOOKS_MAX_TIMEOUT: '100ms' })
  const posted = await attacker('POST', '/v1/jobs', { job: 'http', data: { url: silent.url, timeout: '4m' } })
  expect(await tried(admin, posted.body['id'])).toMatchObject({
    state: 'scheduled',
    attempts: [{ error: { name: 'DeliveryTimeoutError', message: expect.stringMatching(/within 100 ms \(the job asks for 240000 ms/) } }],
  })
})

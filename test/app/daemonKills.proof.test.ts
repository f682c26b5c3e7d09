/** kill -9 of the daemon, and its next start: what was acknowledged is there, and runs to its end. */
import { type ClientRequest, request } from 'node:http'
import { ConnectionLostError, type Engine } from '@millrace/remote'
import { expect, test } from 'vitest'
import { type Receiver, receiver } from '../../packages/webhooks/src/testing/receiver.ts'
import { temporaryFolder } from '../temporary.ts'
import { attached, type Daemon, HANDLERS, startDaemon, tokenIn } from './daemon.ts'

const LONG = 300_000

test('killed under load three times: nothing that was acknowledged is lost, and everything completes once', async () => {
  const folder = temporaryFolder()
  const start = () => startDaemon(folder, { flags: { 'worker-handlers': HANDLERS } })
  let daemon = start()
  const engine = await attached(daemon, folder)
  const token = tokenIn(folder)
  const JOBS = 1_500
  const acknowledged = new Map<number, string>()
  let { promise: reached, resolve: reach } = Promise.withResolvers<void>()
  let next = 0
  let goal = 200
  const produce = async () => {
    for (let number = next++; number < JOBS; number = next++) {
      for (;;) {
        try {
          acknowledged.set(number, (await engine.enqueue('quick', number, { idempotencyKey: `key ${number}` })).id)
          break
        } catch (error) {
          if (!(error instanceof ConnectionLostError)) throw error
        }
      }
      if (acknowledged.size >= goal) reach()
    }
  }
  const producing = Promise.all(Array.from({ length: 20 }, produce))
  for (const count of [200, 600, 1_000]) {
    goal = count
    ;({ promise: reached, resolve: reach } = Promise.withResolvers<void>())
    if (acknowledged.size >= goal) reach()
    await reached
    await daemon.kill()
    daemon = start()
    await daemon.serving
    expect(tokenIn(folder)).toBe(token)
  }
  await producing
  const { promise: done, resolve } = Promise.withResolvers<void>()
  const look = async () => {
    if ((await engine.stats()).states.completed === JOBS) resolve()
  }
  engine.on('completed', () => void look().catch(() => {}))
  await look()
  await done
  expect((await engine.stats()).states).toMatchObject({ completed: JOBS, waiting: 0, active: 0, failed: 0 })
  expect(new Set(acknowledged.values()).size).toBe(JOBS)
  for (const [number, id] of [...acknowledged].filter((_, index) => index % 100 === 0)) expect((await engine.get(id))?.output).toBe(number)
})

const TOKEN = 'a-token-of-the-configuration'
const AUTH = { authorization: `Bearer ${TOKEN}` }

/** Of all jobs of that name. */
async function dataOf(engine: Engine, name: string): Promise<unknown[]> {
  const found: unknown[] = []
  let after: string | undefined
  do {
    const page = await engine.list({ name, limit: 200, ...(after !== undefined && { after }) })
    found.push(...page.jobs.map(({ data }) => data))
    after = page.next
  } while (after !== undefined)
  return found
}

/** Of a job that nothing here is about. */
async function bystander(engine: Engine) {
  const { id } = await engine.enqueue('bystander', 'untouched', { delay: '1h' })
  const before = await engine.get(id)
  return async () => expect(await engine.get(id)).toEqual(before)
}

test('killed in the middle of an import, three times: what was stored stays, and sent again it is there once', {
  timeout: LONG,
}, async () => {
  const LINES = 6_000
  const lines = Array.from({ length: LINES }, (_, line) => `${line}\n`)
  const folder = temporaryFolder()
  const start = () => startDaemon(folder, { flags: { durability: 'full' }, env: { MILLRACE_TOKEN: TOKEN } })
  let daemon = start()
  const engine = await attached(daemon, folder, TOKEN)
  const isUntouched = await bystander(engine)
  const before = (await engine.stats()).totals.enqueued
  const stored = async () => (await engine.stats()).totals.enqueued - before
  for (const goal of [1_000, 2_000, 4_000]) {
    const outgoing = await sending(daemon)
    const broken = new Promise((resolve) => outgoing.once('error', resolve))
    // Enough to come that far, and half a line more.
    outgoing.write(
      lines
        .slice(0, goal + 1_500)
        .join('')
        .slice(0, -2),
    )
    while ((await stored()) < goal);
    await daemon.kill()
    await broken
    daemon = start()
    await daemon.serving
  }
  // In whole commands.
  const kept = await stored()
  expect([kept % 1_000, kept < LINES]).toEqual([0, true])
  const last = await sending(daemon)
  const answered = new Promise<string>((resolve, reject) => {
    last.once('error', reject)
    last.once('response', async (response) => {
      let text = ''
      for await (const chunk of response.setEncoding('utf8')) text += chunk
      resolve(text)
    })
  })
  last.end(lines.join(''))
  expect(JSON.parse(await answered)).toMatchObject({ lines: LINES, created: LINES - kept, existing: kept, refused: 0 })
  expect((await dataOf(engine, 'line')).toReversed()).toEqual(lines.map(Number))
  await isUntouched()
})

/** A request whose body is still to come. */
async function sending(daemon: Daemon): Promise<ClientRequest> {
  const { url } = await daemon.serving
  const headers = { ...AUTH, 'content-type': 'application/x-ndjson', 'idempotency-key': 'all of it' }
  return request(`${url}/v1/jobs:import?name=line`, { method: 'POST', headers })
}

test('killed in the middle of deliveries, three times: each webhook is delivered, and one that comes again says so', {
  timeout: LONG,
}, async () => {
  const JOBS = 60
  const folder = temporaryFolder()
  let holding = true
  let held = 0
  // Every fifth is not answered while there are to be kills.
  const server = await receiver((_received, response, count) => void (holding && count % 5 === 0 ? held++ : response.end()))
  const env = {
    MILLRACE_TOKEN: TOKEN,
    MILLRACE_WEBHOOKS_ENABLED: 'true',
    MILLRACE_WEBHOOKS_ALLOW_PRIVATE: 'true',
    MILLRACE_WEBHOOKS_ALLOW_HTTP: 'true',
    MILLRACE_WEBHOOKS_PORTS: 'any',
  }
  const start = () => startDaemon(folder, { env })
  let daemon = start()
  const engine = await attached(daemon, folder, TOKEN)
  const isUntouched = await bystander(engine)
  const { url } = await daemon.serving
  const jobs = Array.from({ length: JOBS }, (_, body) => ({
    job: 'http',
    data: { url: server.url, body },
    options: { backoff: { type: 'fixed', delay: 0 } },
  }))
  const headers = { ...AUTH, 'content-type': 'application/json' }
  expect((await fetch(`${url}/v1/jobs:bulk`, { method: 'POST', headers, body: JSON.stringify(jobs) })).status).toBe(201)
  for (const count of [10, 20, 30]) {
    await server.until(count)
    await daemon.kill()
    if (count === 30) holding = false
    daemon = start()
    await daemon.serving
  }
  while ((await engine.stats()).states.completed < JOBS);
  expect((await engine.stats()).states).toMatchObject({ completed: JOBS, failed: 0, waiting: 0, active: 0 })
  expect(held).toBeGreaterThan(0)
  const ids = idsOf(server)
  expect([...ids.keys()].toSorted((a, b) => a - b)).toEqual(jobs.map((_, body) => body))
  // Whoever receives one twice knows it by its id.
  expect([...ids.values()].map(({ size }) => size)).toEqual(jobs.map(() => 1))
  await isUntouched()
})

/** By the number that each brought. */
function idsOf({ received }: Receiver): Map<number, Set<unknown>> {
  const ids = new Map<number, Set<unknown>>()
  for (const { headers, body } of received) {
    const number = Number(body.toString())
    ids.set(number, (ids.get(number) ?? new Set()).add(headers['webhook-id']))
  }
  return ids
}

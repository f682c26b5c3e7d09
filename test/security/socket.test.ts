/** Attacks on a listening server, by clients that have a token and say what they like. */
import { Engine } from '@millrace/client'
import { LIMITS } from '@millrace/core'
import { expect, test } from 'vitest'
import { welcomed } from '../remote/rawClient.ts'
import { type Served, serve } from '../remote/served.ts'

/** An engine of another process, as its user has it. */
async function connected({ port, clock }: Served): Promise<Engine> {
  return new Engine(await port(), { maxDataBytes: LIMITS.dataBytes, clock, host: 'host', pid: 1, local: false })
}

/** What it resolves with, or the code of the refusal. */
async function outcome<T>(promise: Promise<T>): Promise<T | string> {
  return promise.catch((error: { readonly code: string }) => error.code)
}

test('more queues or sessions than an answer can have end a question at most, and no client', async () => {
  const served = await serve()
  const [producer, worker, engine] = [await welcomed(served.url), await welcomed(served.url), await connected(served)]
  for (let from = 0; from < 10_500; from += 3_500) {
    const jobs = Array.from({ length: 3_500 }, (_, index) => ({ name: 'n', queue: `q${from + index}`, data: '1' }))
    await producer.ask({ op: 'enqueue', jobs })
  }
  const session = { worker: 'w', host: 'h', pid: 1, handlers: [{ name: 'm', defaults: {} }], minConcurrency: 1, maxConcurrency: 1 }
  for (const client of [producer, worker]) {
    for (let index = 0; index < 5_100; index++) {
      const uuid = `${client === worker}-${index}`
      const command = { op: 'attach' as const, held: [], session: { ...session, uuid, abortGrace: 1_000, local: false } }
      client.send({ type: 'requests', requests: [{ id: 1_000 + index, command }] })
    }
    await client.ask({ op: 'unwatch', request: 0 })
  }
  for (const asked of [engine.queues.list(), engine.workers()]) {
    const answer = await outcome<readonly unknown[]>(asked)
    expect(typeof answer === 'string' ? answer : answer.length).toSatisfy((said) => said === 'TOO_LARGE' || said >= 10_200)
  }
  // The same client goes on.
  expect(Object.keys((await engine.stats()).queues)).toHaveLength(10_500)
  await engine.enqueue('after', 1)
  expect(served.server.connections).toBe(3)
  await engine.stop({ timeout: 0 })
})

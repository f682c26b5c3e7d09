/** What comes in the same piece of bytes as the welcome, before anybody listens behind it. */
import { createServer } from 'node:net'
import { join } from 'node:path'
import { Engine } from '@millrace/client'
import { LIMITS } from '@millrace/core'
import { connectPort } from '@millrace/remote/internal'
import { VirtualClock } from '@millrace/testkit'
import { quiet, seededRandom } from '@millrace/testkit/internal'
import { encodeMessage, FrameReader, type Message } from '@millrace/wire'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'

const WELCOME: Message = {
  type: 'welcome',
  version: 1,
  server: 'test/1',
  node: 1,
  scopes: ['read'],
  limits: { frameBytes: 2 ** 20, requestsInFlight: 10, bytesInFlight: 2 ** 20, pingMs: 15_000, silenceMs: 45_000 },
}
const GOODBYE: Message = { type: 'goodbye', code: 'CLOSING', message: 'the server is closing', retryAfterMs: 100 }
const REATTACH: Message = {
  type: 'delivery',
  delivery: { replies: [], grants: [], notices: [{ kind: 'reattach' }], events: [], renewal: 0 },
}
const answerTo = (id: number): Message => ({
  type: 'delivery',
  delivery: { replies: [{ id, value: [] }], grants: [], notices: [], events: [], renewal: 0 },
})

/** A server that says its n-th welcome with what `behind` has for it, in one piece, and answers every question. */
async function welcoming(behind: readonly (readonly Message[])[]) {
  const path = join(temporaryFolder(), 'sock')
  const clients: number[] = []
  const server = createServer((socket) => {
    const client = clients.push(0) - 1
    const reader = new FrameReader({ frameBytes: 2 ** 20 })
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      for (const _ of reader.push(chunk)) {
        const asked = clients[client] as number
        clients[client] = asked + 1
        if (asked === 0) socket.write(Buffer.concat([WELCOME, ...(behind[client] ?? [])].map(encodeMessage)))
        else socket.write(encodeMessage(answerTo(asked)))
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  onTestFinished(() => void server.close())
  const clock = new VirtualClock()
  const port = await connectWhile(clock, connectPort(`unix:${path}`, {}, { clock, random: seededRandom(1) }))
  onTestFinished(() => port.close())
  const engine = new Engine(port, { maxDataBytes: LIMITS.dataBytes, clock, host: 'host', pid: 1, local: false })
  return { engine, clients, clock }
}

/** Lets attempts be due until the promise is settled. */
async function connectWhile<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  let settled = false
  const done = () => {
    settled = true
  }
  promise.then(done, done)
  for (let round = 0; !settled; round++) {
    await quiet()
    if (round % 20 === 19) await clock.advance(100)
  }
  return promise
}

test('a server that says goodbye right behind its welcome is connected to again', async () => {
  const { engine, clients } = await welcoming([[GOODBYE]])
  expect(await engine.workers()).toEqual([])
  expect(clients).toEqual([1, 2])
})

test('what is said to all connections right behind the welcome is no reason to stumble', async () => {
  const { engine, clients } = await welcoming([[REATTACH]])
  expect(await engine.workers()).toEqual([])
  expect(clients).toEqual([2])
})

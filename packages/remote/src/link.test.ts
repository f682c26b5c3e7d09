/** One end of a connection over a real socket, with its timers in the test's hand. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createConnection, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SCOPES } from '@millrace/core'
import { VirtualClock } from '@millrace/testkit'
import { decodeMessage, encodeMessage, FrameReader, type Message } from '@millrace/wire'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type End, Link } from './link.ts'

const WELCOME: Message = {
  type: 'welcome',
  version: 1,
  server: 'test/1',
  node: 0,
  scopes: SCOPES,
  limits: { frameBytes: 1, requestsInFlight: 1, bytesInFlight: 1, pingMs: 15_000, silenceMs: 45_000 },
}

let folder: string
let peer: Socket
let link: Link
let clock: VirtualClock
let wake: () => void
/** Of the last timer that was set. */
let timerMs: number
let heard: Message[]
let ends: End[]
let stop: () => void

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise<void>((resolve) => setImmediate(resolve))
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-test-'))
  const server = createServer().listen(join(folder, 's'))
  peer = createConnection({ path: join(folder, 's') })
  const [socket] = (await once(server, 'connection')) as [Socket]
  stop = () => {
    peer.destroy()
    socket.destroy()
    server.close()
  }
  clock = new VirtualClock()
  wake = () => {}
  heard = []
  ends = []
  const timers = {
    read: () => clock.read(),
    setTimer: (ms: number, due: () => void) => {
      timerMs = ms
      wake = due
      return () => {}
    },
  }
  link = new Link(socket, { role: 'server', clock: timers, frameMs: 10_000 })
  link.listener = { heard: () => {}, over: (end) => void ends.push(end) }
  const reader = new FrameReader({ frameBytes: 2 ** 20 })
  peer.on('data', (chunk) => {
    for (const payload of reader.push(chunk)) heard.push(decodeMessage(payload, 'server'))
  })
  link.send(WELCOME)
  link.begin(2 ** 20, 15_000, 45_000)
  await until(() => heard.length === 1)
})

afterEach(() => {
  stop()
  rmSync(folder, { recursive: true })
})

test('a thread that was held up hears what has come meanwhile before it takes anybody for dead', async () => {
  clock.stall(60_000)
  peer.write(encodeMessage({ type: 'ping', nonce: 3 }))
  // The timer is first.
  wake()
  await until(() => heard.length === 2)
  expect(heard[1]).toEqual({ type: 'pong', nonce: 3 })
  expect(ends).toEqual([])
})

test('and where nothing has come, it is dead', async () => {
  clock.stall(60_000)
  wake()
  await until(() => ends.length === 1)
  expect(ends).toMatchObject([{ code: 'CONNECTION_LOST', retryAfterMs: 0 }])
})

test('while it does not read, it pings, and takes nobody for dead', async () => {
  link.pause()
  clock.stall(60_000)
  wake()
  await until(() => heard.length === 2)
  expect(heard[1]?.type).toBe('ping')
  expect(ends).toEqual([])
  link.resume()
  clock.stall(44_999)
  wake()
  await until(() => heard.length === 3)
  expect(ends).toEqual([])
})

test('nor does it look again and again, however long that lasts, a frame that is not whole included', async () => {
  peer.write(encodeMessage({ type: 'ping', nonce: 1 }).subarray(0, 3))
  await new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)))
  link.pause()
  clock.stall(60_000)
  for (let pings = 1; pings <= 3; pings++) {
    wake()
    await until(() => heard.length === 1 + pings)
    expect(timerMs).toBe(15_000)
    clock.stall(15_000)
  }
  expect(ends).toEqual([])
})

test('what one tick sends arrives in order, and nothing after a goodbye', async () => {
  for (let nonce = 1; nonce <= 5; nonce++) link.send({ type: 'ping', nonce })
  link.goodbye('CLOSING', 'enough', 5)
  link.send({ type: 'ping', nonce: 6 })
  link.goodbye('OTHER', 'again', 5)
  await link.closed
  await until(() => heard.length === 7)
  expect(heard.slice(1).map((message) => (message.type === 'ping' ? message.nonce : message.type))).toEqual([1, 2, 3, 4, 5, 'goodbye'])
  expect(ends).toEqual([{ code: 'CLOSING', message: 'enough', retryAfterMs: 5 }])
})

test('the end is told once, whichever way it came', async () => {
  peer.write(encodeMessage({ type: 'goodbye', code: 'CLOSING', message: 'done', retryAfterMs: -1 }))
  peer.end()
  await link.closed
  expect(ends).toMatchObject([{ code: 'CLOSING', retryAfterMs: -1 }])
})

test('each frame has its own time', async () => {
  const frame = encodeMessage({ type: 'ping', nonce: 1 })
  peer.write(frame.subarray(0, 3))
  await new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)))
  clock.stall(6_000)
  peer.write(Buffer.concat([frame.subarray(3), frame.subarray(0, 3)]))
  await until(() => heard.length === 2)
  clock.stall(6_000)
  wake()
  await new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)))
  peer.write(frame.subarray(3))
  await until(() => heard.length === 3)
  expect(heard.slice(1).map(({ type }) => type)).toEqual(['pong', 'pong'])
})

test('a goodbye gets out though nothing was read before it', async () => {
  link.pause()
  for (let nonce = 0; nonce < 100; nonce++) peer.write(encodeMessage({ type: 'ping', nonce }))
  link.goodbye('CLOSING', 'enough', 5)
  await link.closed
  await until(() => heard.length === 2)
  expect(heard[1]?.type).toBe('goodbye')
})

test('and where the other end never closes, this one does after a second', async () => {
  peer.allowHalfOpen = true
  link.goodbye('CLOSING', 'enough', 5)
  await until(() => heard.length === 2)
  let closed = false
  void link.closed.then(() => {
    closed = true
  })
  await new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)))
  expect(closed).toBe(false)
  wake()
  await until(() => closed)
})

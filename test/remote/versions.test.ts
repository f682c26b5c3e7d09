/** Peers of different age: what both know is spoken, what only one knows is passed over, and who has nothing in common is told so. */
import { createServer } from 'node:net'
import { join } from 'node:path'
import { connect } from '@millrace/remote'
import { encodeMessage, FrameReader, type Message } from '@millrace/wire'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { HELLO, RawClient } from './rawClient.ts'
import { serve } from './served.ts'

const WELCOME: Message = {
  type: 'welcome',
  version: 1,
  server: 'newer/9',
  node: 1,
  scopes: ['read'],
  limits: { frameBytes: 2 ** 20, requestsInFlight: 10, bytesInFlight: 2 ** 20, pingMs: 15_000, silenceMs: 45_000 },
}
const answerTo = (id: number): Message => ({
  type: 'delivery',
  delivery: { replies: [{ id, value: [] }], grants: [], notices: [], events: [], renewal: 0 },
})

/** A message as a newer peer may say it: with fields behind those that are known, such as what else it is capable of. */
function longer(message: Message): Uint8Array {
  const [, , , , head, ...fields] = encodeMessage(message)
  // Nil; the map { "a": [1, true] }.
  const payload = Uint8Array.of((head as number) + 2, ...fields, 0xc0, 0x81, 0xa1, 0x61, 0x92, 0x01, 0xc3)
  return Buffer.concat([Uint8Array.of(0, 0, payload.length >> 8, payload.length), payload])
}

/** A server that says one thing after the other, each to the next frame that comes. */
async function saying(...frames: readonly Uint8Array[]): Promise<{ url: string; heard: number }> {
  const path = join(temporaryFolder(), 'sock')
  const told = { url: `unix:${path}`, heard: 0 }
  const server = createServer((socket) => {
    const reader = new FrameReader({ frameBytes: 2 ** 20 })
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      for (const _ of reader.push(chunk)) {
        const frame = frames[told.heard++]
        if (frame !== undefined) socket.write(frame)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  onTestFinished(() => void server.close())
  return told
}

test('a newer client says more in its greeting than the server knows, and is welcomed', async () => {
  const { url } = await serve()
  const client = new RawClient(url)
  await client.bytes(longer({ ...HELLO, versions: [1, 2] }))
  expect(await client.said('welcome')).toMatchObject({ version: 1 })
})

test('a newer server says more than the client knows, and is understood', async () => {
  const { url } = await saying(longer(WELCOME), longer(answerTo(1)), longer(answerTo(2)))
  const engine = await connect(url)
  expect(await engine.workers()).toEqual([])
  await engine.stop()
})

test('a client that the server has nothing in common with is told so once, and does not come back', async () => {
  const goodbye: Message = { type: 'goodbye', code: 'VERSION_MISMATCH', message: 'the server speaks 2 to 3', retryAfterMs: -1 }
  const server = await saying(encodeMessage(goodbye))
  await expect(connect(server.url)).rejects.toMatchObject({ name: 'VersionMismatchError', retryable: false, message: goodbye.message })
  expect(server.heard).toBe(1)
})

test('a server that welcomes to a version which the client never named is left', async () => {
  const { url } = await saying(encodeMessage({ ...WELCOME, version: 2 }))
  await expect(connect(url)).rejects.toMatchObject({
    code: 'VERSION_MISMATCH',
    message: expect.stringContaining('version 2'),
  })
})

test('a client of a later version alone is refused for good', async () => {
  const { url } = await serve()
  const client = new RawClient(url)
  client.send({ ...HELLO, versions: [2, 2] })
  expect(await client.said('goodbye')).toMatchObject({
    code: 'VERSION_MISMATCH',
    retryAfterMs: -1,
    message: expect.stringContaining('2 to 2, the server 1 to 1'),
  })
})

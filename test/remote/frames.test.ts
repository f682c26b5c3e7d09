/** Bytes in every shape: in crumbs, too many, none that make sense, and slowly. */

import type { Command } from '@millrace/core'
import { seededRandom } from '@millrace/testkit/internal'
import { encodeMessage } from '@millrace/wire'
import { expect, test } from 'vitest'
import { HELLO, RawClient, welcomed } from './rawClient.ts'
import { serve } from './served.ts'
import { until } from './until.ts'

const stats = { type: 'requests', requests: [{ id: 1, command: { op: 'stats' } }] } as const

test('byte by byte is as good as whole', async () => {
  const { url } = await serve()
  const client = new RawClient(url)
  client.socket.setNoDelay(true)
  for (const byte of encodeMessage(HELLO)) await client.bytes(Uint8Array.of(byte))
  await client.said('welcome')
  for (const byte of encodeMessage(stats)) await client.bytes(Uint8Array.of(byte))
  expect((await client.said('delivery')).delivery.replies).toMatchObject([{ id: 1 }])
})

test('many frames in one piece are all heard', async () => {
  const { url } = await serve()
  const client = await welcomed(url)
  const frames = Array.from({ length: 500 }, (_, index) =>
    encodeMessage({ ...stats, requests: [{ id: index + 1, command: { op: 'stats' } }] }),
  )
  await client.bytes(Buffer.concat(frames))
  const ids = () => client.heard.flatMap((message) => (message.type === 'delivery' ? message.delivery.replies.map(({ id }) => id) : []))
  await until(() => ids().length === 500)
  expect(ids()).toEqual(Array.from({ length: 500 }, (_, index) => index + 1))
})

test('a frame of more than 17 MiB is refused by its length alone', async () => {
  const { url } = await serve()
  const client = await welcomed(url)
  await client.bytes(Uint8Array.of(0x01, 0x10, 0x00, 0x01))
  expect(await client.said('goodbye')).toMatchObject({ code: 'FRAME_TOO_LARGE', retryAfterMs: -1 })
  await client.gone()
})

test.each([
  ['an empty frame', Uint8Array.of(0, 0, 0, 0)],
  ['no array', Uint8Array.of(0, 0, 0, 1, 0xc0)],
  ['an unknown message', Uint8Array.of(0, 0, 0, 2, 0x91, 0x63)],
  ['an unknown operation', Uint8Array.of(0, 0, 0, 6, 0x92, 0x02, 0x91, 0x92, 0x01, 0x7f)],
  [
    'what only a server says',
    encodeMessage({ type: 'delivery', delivery: { replies: [], grants: [], notices: [], events: [], renewal: 0 } }),
  ],
])('%s ends that connection, and no other', async (_what, bytes) => {
  const { url, probe } = await serve()
  const bystander = await probe()
  const client = await welcomed(url)
  await client.bytes(bytes)
  expect((await client.said('goodbye')).code).toMatch(/^BAD_/)
  await client.gone()
  await bystander.barrier()
})

test('a request with a wrong field is refused alone: its connection and the calls around it go on', async () => {
  const { url } = await serve()
  const client = await welcomed(url)
  const requests = (...commands: readonly Command[]) =>
    encodeMessage({ type: 'requests', requests: commands.map((command, index) => ({ id: index + 1, command })) })
  const wrong: Command = { op: 'enqueue', jobs: [{ name: 'a', data: null, timeout: 0 }] }
  await client.bytes(requests({ op: 'enqueue', jobs: [{ name: 'a', data: null }] }, wrong, { op: 'stats' }))
  const answers = () => client.heard.flatMap((message) => (message.type === 'delivery' ? message.delivery.replies : []))
  await until(() => answers().length === 3)
  expect(answers().find(({ id }) => id === 2)?.refusal).toEqual({
    code: 'OPTION_RANGE',
    message: 'jobs[0].timeout must be at least 1 ms, got 0 ms',
    details: { option: 'jobs[0].timeout', limit: 1 },
  })
  expect(answers().filter(({ refusal }) => refusal === undefined)).toMatchObject([{ id: 1 }, { id: 3, value: { states: { waiting: 1 } } }])
})

test('noise ends connections, and leaves the server as it was', async () => {
  const { url, probe, server } = await serve()
  const bystander = await probe()
  const random = seededRandom(5)
  for (let times = 0; times < 50; times++) {
    const client = times % 2 === 0 ? new RawClient(url) : await welcomed(url)
    await client.bytes(Uint8Array.from({ length: 200 }, () => Math.floor(random() * 256)))
    // Most lengths are too large; what is cut short would wait for the rest.
    client.socket.end()
    await client.gone()
  }
  await bystander.barrier()
  await until(() => server.connections === 1)
})

test('a frame that has begun is whole within 10 s, however alive the client is', async () => {
  const { clock, url } = await serve()
  const client = await welcomed(url)
  const frame = encodeMessage(stats)
  await client.bytes(frame.subarray(0, 3))
  // Greeted after them, so that by then they have been read.
  const bystander = await welcomed(url)
  await clock.advance(9_999)
  bystander.send({ type: 'ping', nonce: 1 })
  await bystander.said('pong')
  expect(client.heard.map(({ type }) => type)).toEqual(['welcome'])
  await clock.advance(1)
  expect(await client.said('goodbye')).toMatchObject({ code: 'BAD_FRAME' })
  await client.gone()
})

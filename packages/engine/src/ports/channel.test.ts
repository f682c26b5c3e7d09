/** Both ends of a channel: what is sent arrives, and an end that goes is told of. */
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { Delivery, PortListener, Refusal } from '@millrace/core'
import { sessionIntro } from '@millrace/testkit/internal'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ReadingPort } from '../readers/readRouter.ts'
import { ChannelPort } from './channel.ts'
import { packDelivery } from './pack/deliveries.ts'
import { unpackRequests } from './pack/requests.ts'

let near: ChannelPort
let far: MessagePort
let delivered: Delivery[]
let ended: Refusal[]
let heard: (() => void)[]

beforeEach(() => {
  const { port1, port2 } = new MessageChannel()
  near = new ChannelPort(port1)
  far = port2
  delivered = []
  ended = []
  heard = []
  const hear = () => {
    for (const resolve of heard.splice(0)) resolve()
  }
  const listener: PortListener = {
    deliver: (delivery) => {
      delivered.push(delivery)
      hear()
    },
    broken: () => {},
    lapsed: () => {},
    reopened: () => {},
    ended: (refusal) => {
      ended.push(refusal)
      hear()
    },
  }
  near.listen(listener)
})

afterEach(() => near.close())

const next = () => new Promise<void>((resolve) => void heard.push(resolve))

test('requests go out, deliveries come in', async () => {
  const arrived = new Promise((resolve) => far.once('message', resolve))
  near.send([{ id: 1, command: { op: 'stats' } }])
  expect(unpackRequests((await arrived) as never)).toEqual([{ id: 1, command: { op: 'stats' } }])
  const delivery: Delivery = { replies: [{ id: 1, value: true }], grants: [], notices: [{ kind: 'reattach' }], events: [], renewal: 0 }
  far.postMessage(packDelivery(delivery))
  await next()
  expect(delivered).toEqual([delivery])
})

test('the figures of the process go ahead of its first worker', async () => {
  const said: unknown[] = []
  const arrived = new Promise<void>((resolve) =>
    far.on('message', (message) => {
      if (said.push(message) === 2) resolve()
    }),
  )
  const port = new ReadingPort(near, undefined, (change) => near.noteSession(change))
  port.send([{ id: 1, command: { op: 'attach', session: sessionIntro(['a']), held: [] } }])
  await arrived
  expect(said).toEqual([{ rssBytes: expect.any(Number) }, expect.objectContaining({ values: [expect.objectContaining({ op: 'attach' })] })])
})

test('a far end that goes is told of, once, after what it said last', async () => {
  far.postMessage(packDelivery({ replies: [{ id: 1, value: true }], grants: [], notices: [], events: [], renewal: 0 }))
  far.close()
  await next()
  expect([delivered.length, ended.length]).toEqual([1, 0])
  await next()
  expect(ended).toMatchObject([{ code: 'ENGINE_STOPPED' }])
})

test('an end that was closed here is not', async () => {
  const gone = new Promise<void>((resolve) => far.once('close', () => resolve()))
  await near.close()
  await gone
  expect(ended).toEqual([])
})

/** Both ends of a mux: many Ports over one channel, each with what is its own. */
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { Delivery, JobEvent, Port, Refusal } from '@millrace/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Client } from '../writer/client.ts'
import { PortDemux } from '../writer/demux.ts'
import { type MuxRequest, PortMux } from './mux.ts'
import { packDelivery } from './pack/deliveries.ts'

const EMPTY: Delivery = { replies: [], grants: [], notices: [], events: [], renewal: 0 }
const reply = (id: number): Delivery => ({ ...EMPTY, replies: [{ id, value: true }] })

let far: MessagePort
let mux: PortMux
/** What the far end has heard. */
let said: MuxRequest[]
let wake = () => {}

beforeEach(() => {
  const { port1, port2 } = new MessageChannel()
  mux = new PortMux(port1)
  far = port2
  said = []
  far.on('message', (message: MuxRequest) => {
    said.push(message)
    wake()
  })
})

afterEach(() => far.close())

/** Until something has come, at either end. */
const next = () =>
  new Promise<void>((resolve) => {
    wake = resolve
  })

function open(): { port: Port; delivered: Delivery[]; ended: Refusal[] } {
  const port = mux.openPort()
  const [delivered, ended]: [Delivery[], Refusal[]] = [[], []]
  port.listen({
    deliver: (delivery) => {
      delivered.push(delivery)
      wake()
    },
    broken: () => {},
    lapsed: () => {},
    reopened: () => {},
    ended: (refusal) => {
      ended.push(refusal)
      wake()
    },
  })
  return { port, delivered, ended }
}

test('what is for one is heard by no other', async () => {
  const [one, two] = [open(), open()]
  one.port.send([{ id: 1, command: { op: 'stats' } }])
  two.port.send([{ id: 1, command: { op: 'workers' } }])
  while (said.length < 2) await next()
  expect(said.map(([port]) => port)).toEqual([1, 2])
  far.postMessage([2, packDelivery(reply(1))])
  await next()
  expect([one.delivered, two.delivered]).toEqual([[], [reply(1)]])
})

test('one that is closed hears nothing more, and says so once; the others go on', async () => {
  const [one, two] = [open(), open()]
  await one.port.close()
  await one.port.close()
  one.port.send([{ id: 1, command: { op: 'stats' } }])
  far.postMessage([1, packDelivery(reply(1))])
  far.postMessage([2, packDelivery(reply(2))])
  while (two.delivered.length < 1 || said.length < 1) await next()
  expect(said).toEqual([[1, null]])
  expect(one.delivered).toEqual([])
})

test('events that were read are counted for the port that read them', async () => {
  open()
  const two = open()
  const event = { kind: 'completed', seq: 5 } as unknown as JobEvent
  far.postMessage([2, packDelivery({ ...EMPTY, events: [event, event] })])
  while (said.length === 0) await next()
  expect(said).toEqual([[2, 2]])
  expect(two.delivered[0]?.events).toHaveLength(2)
})

test('a far end that goes is told of to all that are open', async () => {
  const [one, two] = [open(), open()]
  await one.port.close()
  far.close()
  while (two.ended.length === 0) await next()
  expect(one.ended).toEqual([])
  expect(two.ended).toMatchObject([{ code: 'ENGINE_STOPPED' }])
  expect(mux.ended).toBe(true)
})

test('the writer has a client for each, until it is closed or the channel is', () => {
  const posts: ((said: ReturnType<typeof packDelivery>) => void)[] = []
  const log: string[] = []
  const connect = (post: (typeof posts)[number]): Client => {
    const number = posts.push(post)
    return {
      hear: (what) => log.push(`${number} hears ${typeof what}`) > 0 && typeof what !== 'number',
      leave: () => log.push(`${number} leaves`),
    }
  }
  const sent: unknown[] = []
  const end = new PortDemux(connect, (message) => sent.push(message))
  const requests = {} as Exclude<MuxRequest[1], number | null>
  expect(end.hear([7, requests])).toBe(true)
  expect(end.hear([7, 3])).toBe(false)
  expect(end.hear([9, requests])).toBe(true)
  expect(end.hear([8, null])).toBe(false)
  posts[1]?.(packDelivery(EMPTY))
  expect(sent).toEqual([[9, packDelivery(EMPTY)]])
  expect(end.hear([7, null])).toBe(true)
  end.close()
  expect(log).toEqual(['1 hears object', '1 hears number', '2 hears object', '1 leaves', '2 leaves'])
})

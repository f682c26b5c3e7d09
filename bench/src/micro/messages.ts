/** What does a request cost on its way through a socket: to encode and to decode a batch of 100, of what whole jobs are made of? */
import { type Delivery, encodeData, type Grant, newJobFrom, type Request } from '@millrace/core'
import { decodeMessage, encodeMessage, HEADER_BYTES, type Message, type Role } from '@millrace/wire'
import type { Bench } from 'tinybench'
import { payloadOf } from '../payload.ts'

const MAX_BYTES = 2 ** 20
const BATCH = 100
const NOW = 1_795_000_000_000
const SESSION = '0c9d2a3e-7f41-4c55-9b1e-64a1f7e2d008'

const batch = <T>(of: (index: number) => T): T[] => Array.from({ length: BATCH }, (_, index) => of(index))
const textOf = (index: number) => encodeData('data', payloadOf(index), MAX_BYTES)
const asking = (of: (index: number) => Request['command']): Message => ({
  type: 'requests',
  requests: batch((index) => ({ id: 70_000 + index, command: of(index) })),
})
const delivering = (of: Partial<Delivery>): Message => ({
  type: 'delivery',
  delivery: { replies: [], grants: [], notices: [], events: [], renewal: 12, ...of },
})

const grant = (index: number): Grant => ({
  session: SESSION,
  seq: 70_000 + index,
  node: 12_345_678,
  enqueuedAt: NOW,
  name: 'thumbnail',
  queue: 'default',
  run: 1,
  attempt: 1,
  maxAttempts: 4,
  priority: 0,
  weight: 1,
  runAt: NOW,
  timeout: 300_000,
  heartbeatTimeout: 120_000,
  data: textOf(index),
  checkpoint: null,
  tags: undefined,
  meta: undefined,
})

const BATCHES: Readonly<Record<string, readonly [from: Role, message: Message]>> = {
  enqueues: ['client', asking((index) => ({ op: 'enqueue', jobs: [newJobFrom('thumbnail', textOf(index), undefined, undefined)] }))],
  'enqueues with options': [
    'client',
    asking((index) => ({
      op: 'enqueue',
      jobs: [
        newJobFrom('thumbnail', textOf(index), { queue: 'images', priority: 5, delay: 1_000, idempotencyKey: `key-${index}` }, undefined),
      ],
    })),
  ],
  'answers to enqueues': [
    'server',
    delivering({
      replies: batch((index) => ({
        id: 70_000 + index,
        value: [{ seq: 70_000 + index, node: 12_345_678, enqueuedAt: NOW, created: true }],
      })),
    }),
  ],
  grants: ['server', delivering({ grants: batch(grant) })],
  completes: ['client', asking((index) => ({ op: 'complete', seq: 70_000 + index, run: 1, output: null }))],
  'answers to completes': ['server', delivering({ replies: batch((index) => ({ id: 70_000 + index, value: true })) })],
}

export function messages(bench: Bench): void {
  for (const [what, [from, message]] of Object.entries(BATCHES)) {
    const payload = encodeMessage(message).subarray(HEADER_BYTES)
    const each = `${BATCH} ${what}, ${Math.round(payload.length / BATCH)} bytes each`
    bench.add(`${each}: encoded`, () => void encodeMessage(message))
    bench.add(`${each}: decoded`, () => void decodeMessage(payload, from))
  }
}

import type { Delivery, Grant, JobEvent, Reply } from '@millrace/core'
import { decodeMessage, type Message } from '@millrace/wire'
import { expect, test } from 'vitest'
import { sendCut, slices } from './frames.ts'

const MIB = 2 ** 20
const requestsOf = (ids: readonly number[], data: string): Message => ({
  type: 'requests',
  requests: ids.map((id) => ({ id, command: { op: 'complete', seq: id, run: 1, output: data } })),
})

function cut(ids: readonly number[], data: string, frameBytes: number, elements = 1_000_000) {
  const frames: Uint8Array[] = []
  const refused: number[] = []
  sendCut(ids, {
    message: (some) => requestsOf(some, data),
    frameBytes,
    elements,
    send: (frame) => frames.push(frame),
    refuse: (id) => refused.push(id),
  })
  const sent = frames.map((frame) => {
    const message = decodeMessage(frame.subarray(4), 'client')
    return message.type === 'requests' ? message.requests.map(({ id }) => id) : []
  })
  return { frames, sent, refused }
}

test('all in one where that is allowed', () => {
  expect(cut([1, 2, 3], 'x', 1_000).sent).toEqual([[1, 2, 3]])
})

test('in order, none larger than allowed, where it is not', () => {
  const { frames, sent, refused } = cut([1, 2, 3, 4, 5], 'x'.repeat(400), 1_000)
  expect(sent.flat()).toEqual([1, 2, 3, 4, 5])
  expect(refused).toEqual([])
  expect(frames.length).toBeGreaterThan(1)
  for (const frame of frames) expect(frame.length - 4).toBeLessThanOrEqual(1_000)
})

test('in order, none of more items than allowed, where it is not', () => {
  // Each request is an item with six of its own; the message is two more.
  const { sent, refused } = cut([1, 2, 3, 4, 5], '', 1_000, 2 + 2 * 6)
  expect([sent.map((ids) => ids.length), sent.flat(), refused]).toEqual([[2, 1, 2], [1, 2, 3, 4, 5], []])
})

test('what alone is too large is refused, and the others go', () => {
  const { sent, refused } = cut([1, 2, 3], 'x'.repeat(1_000), 1_000)
  expect(sent.flat()).toEqual([])
  expect(refused).toEqual([1, 2, 3])
})

test('no more than 10,000 in one', () => {
  const { sent } = cut(
    Array.from({ length: 10_001 }, (_, index) => index),
    '',
    10 * MIB,
  )
  expect(sent.map(({ length }) => length)).toEqual([5_001, 5_000])
})

const grant = (seq: number, bytes: number) => ({ seq, data: 'x'.repeat(bytes), checkpoint: null }) as unknown as Grant
const delivery = (parts: Partial<Delivery>): Delivery => ({ replies: [], grants: [], notices: [], events: [], renewal: 3, ...parts })

test('a small delivery is one', () => {
  const small = delivery({ replies: [{ id: 1, value: true }], grants: [grant(1, 10)] })
  expect([...slices(small)]).toEqual([small])
})

test('a large one is many, in the order in which their parts are to be taken, each with its renewal', () => {
  const replies: Reply[] = [1, 2, 3].map((id) => ({ id, value: { data: 'x'.repeat(MIB / 2) } }))
  const parts = [...slices(delivery({ replies, grants: [grant(1, MIB), grant(2, 1)], notices: [{ kind: 'reattach' }] }))]
  expect(parts.map((part) => [part.replies.map(({ id }) => id), part.notices.length, part.grants.map(({ seq }) => seq)])).toEqual([
    [[1, 2], 0, []],
    [[3], 0, []],
    [[], 1, []],
    [[], 0, [1]],
    [[], 0, [2]],
  ])
  expect(new Set(parts.map(({ renewal }) => renewal))).toEqual(new Set([3]))
})

test.each([
  [
    'the meta and the tags of jobs',
    { grants: [1, 2, 3].map((seq) => ({ ...grant(seq, 0), meta: 'x'.repeat(MIB / 2), tags: ['y'.repeat(512)] })) },
  ],
  ['why a job failed', { replies: [1, 2, 3].map((id) => ({ id, value: { error: { name: 'Error', stack: 'x'.repeat(MIB / 2) } } })) }],
  [
    'what a refusal says',
    { replies: [1, 2, 3].map((id) => ({ id, refusal: { code: 'STORAGE', message: 'x'.repeat(MIB / 2) } as const })) },
  ],
  ['the errors of events', { events: [1, 2, 3].map((seq) => ({ seq, error: 'x'.repeat(MIB / 2) }) as unknown as JobEvent) }],
])('%s may be what is large', (_what, large) => {
  const parts = [...slices(delivery({ notices: [{ kind: 'reattach' }], ...large }))]
  expect(parts.map(({ replies, grants, events }) => replies.length + grants.length + events.length).filter(Boolean)).toEqual([2, 1])
})

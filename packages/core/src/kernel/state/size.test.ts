/** Tests the bound on the size of payloads. */

import { describe, expect, test } from 'vitest'
import type { NewJob } from '../../commands.ts'
import { Refused } from '../../decision.ts'
import { LIMITS } from '../../limits.ts'
import type { Command } from '../../operations.ts'
import type { Forwarded } from '../../replies.ts'
import { attaching, codeOf, enqueueing, World } from '../../testing/world.ts'

const MOST = 10
const FITS = 'x'.repeat(MOST)
const OVER = 'x'.repeat(MOST + 1)

const bounded = () => new World({ settings: { maxDataBytes: MOST } })
const job = (data: NewJob['data']): NewJob => ({ name: 'a', data })
const run = { seq: 2, run: 1 }

/** With a bystander that waits (1), and a job that runs (2). */
function running(): World {
  const world = bounded()
  world.enqueue('b', { data: FITS })
  world.run(attaching('s', ['a']))
  world.enqueue('a')
  return world
}

/** Each with the option that its refusal names, of a value that fits and of one that does not. */
const COMMANDS: readonly (readonly [name: string, option: string, command: (data: string | Uint8Array) => Command])[] = [
  ['enqueue', 'data', (data) => enqueueing(job('1'), job(data))],
  [
    'flow',
    'data',
    (data) => ({
      op: 'flow',
      nodes: [
        { ref: 'p', job: job('1'), parents: [], onFailure: 'fail' },
        { ref: 'c', job: job(data), parents: [0], onFailure: 'fail' },
      ],
    }),
  ],
  ['complete', 'output', (data) => ({ op: 'complete', ...run, output: data })],
  ['what a handler enqueues', 'data', (data) => ({ op: 'complete', ...run, output: null, enqueues: [job(data)] })],
  ['checkpoint', 'checkpoint', (data) => ({ op: 'checkpoint', ...run, value: data })],
  ['update of data', 'data', (data) => ({ op: 'update', id: { seq: 1, node: 1, enqueuedAt: 0 }, changes: { data } })],
  [
    'update of a checkpoint',
    'checkpoint',
    (data) => ({ op: 'update', id: { seq: 1, node: 1, enqueuedAt: 0 }, changes: { checkpoint: data } }),
  ],
  [
    'schedule',
    'data',
    (data) => ({
      op: 'upsertSchedule',
      id: 's',
      spec: { every: 60_000, jitter: 0, overlap: 'skip', catchUp: 'latest' },
      job: job(data),
      runImmediately: false,
    }),
  ],
]

describe.each(COMMANDS)('the bound of payloads: %s', (_name, option, command) => {
  test.each([OVER, new Uint8Array(MOST + 1), '\u20ac'.repeat(4)])('a payload that is too large is refused, and nothing changes', (data) => {
    const world = running()
    const before = JSON.stringify([...world.store.rows])
    const [reply] = world.turn(command(data)).replies
    expect(reply).toBeInstanceOf(Refused)
    expect((reply as Refused).refusal).toEqual({
      code: 'OPTION_RANGE',
      message: expect.stringMatching(/at most 10 are stored: .*maxDataBytes of openEngine/),
      details: { option, limit: MOST },
    })
    expect(JSON.stringify([...world.store.rows])).toBe(before)
  })

  test.each([FITS, new Uint8Array(MOST), '\u20ac'.repeat(3)])('a payload of the allowed size is accepted', (data) => {
    expect(codeOf(running().turn(command(data)).replies[0])).not.toBe('OPTION_RANGE')
  })
})

test('an entry of a journal that is too large is refused alone, and the entries around it are created once', () => {
  const world = bounded()
  const entries = [[job('1')], [job('2'), job(OVER)], [job('4')]].map((jobs) => ({ at: 0, jobs }))
  const forward = (first: number) =>
    world.turn({ op: 'forward', source: 's', number: 1, first, entries: entries.slice(first === 1 ? 0 : 2) }).replies[0] as Forwarded
  expect(forward(1)).toMatchObject({ mark: 1, refused: { place: 2, refusal: { code: 'OPTION_RANGE', details: { option: 'data' } } } })
  expect(forward(4)).toMatchObject({ mark: 4 })
  expect([...world.store.rows.values()].map(({ data }) => data)).toEqual(['1', '4'])
})

test('a call that is too large is refused alone among the calls of its turn', () => {
  const world = bounded()
  const { replies } = world.turn(enqueueing(job('1')), enqueueing(job(OVER)), enqueueing(job(FITS)))
  expect(replies.map(codeOf)).toEqual([undefined, 'OPTION_RANGE', undefined])
  expect([...world.store.rows.values()].map(({ data }) => data)).toEqual(['1', FITS])
})

test('a stored job runs although a new bound is smaller than its payload', () => {
  const world = new World()
  world.enqueue('a', { data: OVER })
  const smaller = new World({ store: world.store, settings: { maxDataBytes: MOST } })
  expect(smaller.run(attaching('s', ['a'])).grants).toMatchObject([{ data: OVER }])
})

test('an engine without a bound of its own stores payloads up to the size of one command', () => {
  const world = new World()
  expect(world.refusal(enqueueing(job('x'.repeat(LIMITS.bytesPerCommand + 1))))).toBe('OPTION_RANGE')
  expect(world.refusal(enqueueing(job('x'.repeat(LIMITS.bytesPerCommand))))).toBeUndefined()
})

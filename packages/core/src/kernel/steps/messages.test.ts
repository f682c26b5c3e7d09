/** Messages: each is kept or taken once, in the order in which they came, and a job that sleeps until one wakes with it. */
import { describe, expect, test } from 'vitest'
import type { Refused } from '../../decision.ts'
import type { JobKey } from '../../id.ts'
import { LIMITS } from '../../limits.ts'
import type { SendCommand, WaitReply, WantedWait } from '../../stepCommands.ts'
import { NEVER_DUE } from '../../steps.ts'
import { World } from '../../testing/world.ts'

/** A job that runs, and a bystander that sleeps until the same message and keeps another. */
function running(options: object = {}) {
  const world = new World()
  world.attach('s', ['a', 'b'], { minConcurrency: 1, maxConcurrency: 1 })
  const bystander = world.enqueue('b')
  world.run({ op: 'wait', ...world.runOf(bystander), settled: 0, waits: [{ name: 'go', asked: 1, message: 'go' }], end: true })
  world.run({ op: 'send', id: world.keyOf(bystander), name: 'other', value: '"kept"' })
  const job = world.keyOf(world.enqueue('a', options))
  const untouched = () => {
    expect(world.stateOf(bystander)).toBe('scheduled')
    expect(keptOf(world, bystander)).toEqual(['"kept"'])
  }
  return { world, job, untouched }
}

const go: WantedWait = { name: 'go', asked: 1, message: 'go' }

function wait(world: World, job: JobKey, waits: readonly WantedWait[], { end = true, settled = 0 } = {}): WaitReply {
  return world.call<'wait'>({ op: 'wait', ...world.runOf(job), settled, waits, end })
}

const send = (world: World, id: JobKey, more: Partial<SendCommand> = {}) =>
  world.call<'send'>({ op: 'send', id, name: 'go', value: '"1"', ...more })
const keptOf = (world: World, { seq }: { readonly seq: number }) =>
  world.store.messages(seq, undefined, 2_000, LIMITS.messagesBytes).map(({ value }) => value)
const stepsOf = (world: World, { seq }: JobKey) =>
  world.store.steps(seq, 0, 100, 1_000).results.map(({ number, name, kind, value }) => [number, name, kind, value])

describe('a message', () => {
  test('wakes the job that sleeps until it, which has all its attempts again', () => {
    const { world, job, untouched } = running({ maxAttempts: 2 })
    expect(wait(world, job, [go])).toEqual({ results: [], ended: true })
    expect(world.row(job)).toMatchObject({ state: 0, runAt: NEVER_DUE, uncounted: 1 })
    world.pause('default')
    const { replies, events } = world.run({ op: 'send', id: job, name: 'go', value: '"1"' })
    expect([replies, events.map(({ type }) => type)]).toEqual([['taken'], ['promoted']])
    expect([world.stateOf(job), stepsOf(world, job)]).toEqual(['waiting', [[1, 'go', 'message', '"1"']]])
    expect(keptOf(world, job)).toEqual([])
    untouched()
  })

  test('of another name is kept, and so is one that comes before the wait', () => {
    const { world, job, untouched } = running()
    expect([send(world, job), send(world, job, { value: '"2"' }), send(world, job, { name: 'x', value: '"3"' })]).toEqual(
      Array(3).fill('kept'),
    )
    expect(world.row(job).extras?.kept).toEqual({ count: 3, bytes: 9, last: 3 })
    const first = wait(world, job, [go])
    expect(first).toMatchObject({ ended: false, results: [{ number: 1, kind: 'message', value: '"1"' }] })
    const second = { ...go, name: 'again' }
    expect(wait(world, job, [second], { settled: 1 })).toMatchObject({
      ended: false,
      results: [{ number: 2, name: 'again', value: '"2"' }],
    })
    expect(wait(world, job, [{ ...go, name: 'third' }], { settled: 2 })).toMatchObject({ ended: true })
    expect([keptOf(world, job), world.row(job).extras?.kept]).toEqual([['"3"'], { count: 1, bytes: 3, last: 3 }])
    untouched()
  })

  test('is taken by one wait: of two, by the one that ends first', () => {
    const { world, job } = running()
    const waits = [
      { ...go, name: 'endless' },
      { ...go, name: 'timed', delay: 100 },
    ]
    wait(world, job, waits)
    expect(send(world, job)).toBe('taken')
    expect(stepsOf(world, job)).toEqual([[1, 'timed', 'message', '"1"']])
    expect(wait(world, job, [], { end: false, settled: 1 })).toMatchObject({ results: [] })
    send(world, job, { value: '"2"' })
    expect(wait(world, job, waits.slice(0, 1), { settled: 1 })).toMatchObject({ results: [{ number: 2, name: 'endless', value: '"2"' }] })
  })

  test('within one turn is sent, taken and sent again, with no trace of those that were never stored', () => {
    const { world, job, untouched } = running()
    const sending = { op: 'send', id: job, name: 'go' } as const
    const waiting = { op: 'wait', ...world.runOf(job), end: false } as const
    const { replies } = world.run(
      { ...sending, value: '"1"' },
      { ...waiting, settled: 0, waits: [go] },
      { ...sending, value: '"2"' },
      { ...sending, value: '"3"' },
      { ...waiting, settled: 1, waits: [{ ...go, name: 'second' }] },
    )
    expect(replies).toMatchObject(['kept', { results: [{ value: '"1"' }] }, 'kept', 'kept', { results: [{ number: 2, value: '"2"' }] }])
    expect(keptOf(world, job)).toEqual(['"3"'])
    untouched()
  })

  test('that comes to a run beside its wait is noticed there, and taken when it asks again', () => {
    const { world, job } = running()
    expect(wait(world, job, [go], { end: false })).toEqual({ results: [], ended: false })
    const { replies, notices } = world.turn(
      { op: 'send', id: job, name: 'go', value: '"1"' },
      { op: 'send', id: job, name: 'x', value: '1' },
    )
    expect([replies, notices]).toMatchObject([['kept', 'kept'], [{ kind: 'messaged', seq: job.seq, run: 1 }]])
    expect(notices).toHaveLength(1)
    expect(wait(world, job, [go])).toMatchObject({ ended: false, results: [{ name: 'go', value: '"1"' }] })
    // Its answer was lost: the same again.
    expect(wait(world, job, [go])).toMatchObject({ ended: false, results: [{ name: 'go', value: '"1"' }] })
  })

  test('that comes in time wins over the end of the wait, and a wait that ends without one has no value', () => {
    const { world, job, untouched } = running()
    wait(world, job, [{ ...go, delay: 50 }])
    world.pass(60)
    expect(send(world, job)).toBe('taken')
    expect(stepsOf(world, job)).toEqual([[1, 'go', 'message', '"1"']])
    wait(world, job, [{ ...go, name: 'later', delay: 50 }], { settled: 1 })
    world.after(50)
    expect(stepsOf(world, job)).toEqual([
      [1, 'go', 'message', '"1"'],
      [2, 'later', 'message', null],
    ])
    expect(send(world, job)).toBe('kept')
    untouched()
  })

  test('with a key is stored once, also when its job has ended since', () => {
    const { world, job } = running()
    const keyed = { idempotencyKey: 'k' }
    expect([send(world, job, keyed), send(world, job, { ...keyed, value: '"2"' }), send(world, job, { idempotencyKey: 'l' })]).toEqual([
      'kept',
      'known',
      'kept',
    ])
    expect(keptOf(world, job)).toEqual(['"1"', '"1"'])
    world.complete(job)
    expect(send(world, job, keyed)).toBe('known')
    expect(world.refusal({ op: 'send', id: job, name: 'go', value: '1' })).toBe('JOB_FINISHED')
  })

  test('has keys of its own: a job with such a key does not take them', () => {
    const { world, job } = running()
    world.enqueue('a', { idempotencyKey: 'k' })
    expect(send(world, job, { idempotencyKey: 'k' })).toBe('kept')
  })

  test('finds its job by a unique key in the same turn', () => {
    const { world } = running()
    const unique = { key: 'u', onConflict: 'skip', until: 'end' } as const
    world.enqueue('c', { unique })
    const of = { kind: 'unique', name: 'c', key: 'u' } as const
    expect(world.call<'send'>({ op: 'send', of, name: 'go', value: '1', idempotencyKey: 'k' })).toBe('kept')
    expect(world.call<'send'>({ op: 'send', of, name: 'go', value: '1', idempotencyKey: 'k' })).toBe('known')
    expect(world.refusal({ op: 'send', of: { ...of, key: 'v' }, name: 'go', value: '1' })).toBe('JOB_NOT_FOUND')
  })

  test('beyond what a job keeps is refused, until some are taken; one to a sleeper is always taken', () => {
    const { world, job, untouched } = running()
    const many = Array.from({ length: LIMITS.messagesPerJob }, () => ({ op: 'send', id: job, name: 'go', value: '1' }) as const)
    world.run(...many)
    expect(world.refusal({ op: 'send', id: job, name: 'go', value: '1' })).toBe('MESSAGES_FULL')
    expect(wait(world, job, [go])).toMatchObject({ results: [{ value: '1' }] })
    expect(send(world, job, { name: 'x' })).toBe('kept')
    wait(world, job, [{ ...go, name: 'w', message: 'y' }], { settled: 1 })
    expect(send(world, job, { name: 'y' })).toBe('taken')
    expect(keptOf(world, job)).toHaveLength(LIMITS.messagesPerJob)
    untouched()
  })

  test('of so many bytes is refused', () => {
    const { world, job } = running()
    const value = `"${'x'.repeat(LIMITS.messagesBytes / 2)}"`
    expect(send(world, job, { value })).toBe('kept')
    expect(world.refusal({ op: 'send', id: job, name: 'go', value })).toBe('MESSAGES_FULL')
  })

  test('comes in answers of bounded size: a run with many large ones asks again', () => {
    const { world, job } = running()
    const waits = [1, 2, 3].map((number) => ({ name: `w${number}`, asked: 1, message: 'go' }))
    for (const { name } of waits) send(world, job, { value: `"${name}${'x'.repeat(LIMITS.stepsBytes * 0.6)}"` })
    expect(wait(world, job, waits)).toMatchObject({ ended: false, results: [{ name: 'w1' }, { name: 'w2' }] })
    expect(wait(world, job, waits.slice(2), { settled: 2 })).toMatchObject({ ended: false, results: [{ number: 3, name: 'w3' }] })
  })

  test('is what a job waits for that a retry would wake: it says so', () => {
    const { world, job, untouched } = running()
    wait(world, job, [go])
    const { refusal } = world.turn({ op: 'retry', id: job }).replies[0] as Refused
    expect(refusal).toMatchObject({ code: 'JOB_SCHEDULED', message: expect.stringContaining("send it 'go'") })
    untouched()
  })

  test('goes with its job, and stays after a retry from the start', () => {
    const { world, job, untouched } = running({ maxAttempts: 1 })
    send(world, job)
    world.fail(job)
    world.run({ op: 'retry', id: job, from: 'start' })
    expect(keptOf(world, job)).toEqual(['"1"'])
    world.complete(job)
    world.run({ op: 'delete', id: job })
    expect(keptOf(world, job)).toEqual([])
    untouched()
  })

  test('to a job that has not begun does not begin it: its data may change', () => {
    const world = new World()
    const job = world.enqueue('a')
    expect(send(world, job)).toBe('kept')
    world.run({ op: 'update', id: job, changes: { data: '"new"' } })
    expect(world.row(job).data).toBe('"new"')
    expect(world.refusal({ op: 'send', id: { ...job, seq: 99 }, name: 'go', value: '1' })).toBe('JOB_NOT_FOUND')
  })
})

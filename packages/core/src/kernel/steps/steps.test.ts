/** Durable calls: results are recorded by the run that holds the job, and a job that waits sleeps without a place. */
import { describe, expect, test } from 'vitest'
import type { WantedWait } from '../../stepCommands.ts'
import { World } from '../../testing/world.ts'

const ERROR = { name: 'E', message: 'm' }

/** A job that runs, and a bystander that waits behind it. */
function running(options: object = {}) {
  const world = new World()
  world.attach('s', ['a'], { minConcurrency: 1, maxConcurrency: 1 })
  const job = world.enqueue('a', options)
  const bystander = world.enqueue('a')
  return { world, job, bystander }
}

const recording = (seq: number, run: number, number: number, more: object = {}) =>
  ({ op: 'step', seq, run, number, asked: 1, name: `n${number}`, kind: 'step', startedAt: 1, value: `${number}`, ...more }) as const
const waiting = (seq: number, run: number, settled: number, waits: readonly WantedWait[], end = true) =>
  ({ op: 'wait', seq, run, settled, waits, end }) as const
const stepsOf = (world: World, { seq }: { readonly seq: number }) =>
  world.store
    .steps(seq, 0, 100, 1_000)
    .results.map(({ number, name, kind, value, error, run }) => [number, name, kind, error?.name ?? value, run])

describe('step', () => {
  test('records a result, which its run may repeat', () => {
    const { world, job, bystander } = running()
    expect(world.run(recording(1, 1, 1)).replies).toEqual([true])
    expect(world.run(recording(1, 1, 1, { value: 'other' }), recording(1, 1, 2, { value: null, error: ERROR })).replies).toEqual([
      true,
      true,
    ])
    expect(stepsOf(world, job)).toEqual([
      [1, 'n1', 'step', '1', 1],
      [2, 'n2', 'step', 'E', 1],
    ])
    expect([world.stateOf(job), world.stateOf(bystander)]).toEqual(['active', 'waiting'])
  })

  test('of a run that is over records nothing', () => {
    const { world, job } = running()
    world.run({ op: 'giveBack', seq: 1, run: 1 })
    expect(world.turn(recording(1, 1, 1)).replies).toMatchObject([{ refusal: { code: 'STALE_RUN' } }])
    expect(stepsOf(world, job)).toEqual([])
  })

  test('gives the job all its attempts and its whole time again', () => {
    const { world, job } = running({ maxAttempts: 2, timeout: 100, maxAge: 150, backoff: { type: 'fixed', delay: 10 } })
    world.run({ op: 'fail', seq: 1, run: 1, error: ERROR, retry: 0 })
    expect(world.row(job)).toMatchObject({ run: 2, uncounted: 0 })
    world.after(90)
    world.run(recording(1, 2, 1))
    expect(world.row(job)).toMatchObject({ run: 2, uncounted: 1 })
    world.after(90)
    expect(world.stateOf(job)).toBe('active')
    world.run({ op: 'fail', seq: 1, run: 2, error: ERROR })
    expect(world.stateOf(job)).toBe('scheduled')
    world.run({ op: 'complete', seq: 2, run: 1, output: null })
    expect(world.after(10).grants).toMatchObject([{ run: 3 }])
    world.run({ op: 'fail', seq: 1, run: 3, error: ERROR })
    expect(world.stateOf(job)).toBe('failed')
  })

  test('goes with its job', () => {
    const { world, job } = running()
    world.run(recording(1, 1, 1))
    world.run({ op: 'complete', seq: 1, run: 1, output: null })
    world.run({ op: 'delete', id: job })
    expect(stepsOf(world, job)).toEqual([])
  })
})

describe('wait', () => {
  test('puts the job to sleep without a slot or an attempt, until the earliest wait ends', () => {
    const { world, job, bystander } = running()
    const waits = [
      { name: 'long', asked: 1, delay: 100 },
      { name: 'short', asked: 1, delay: 30 },
    ]
    const { replies, events } = world.run(waiting(1, 1, 0, waits))
    expect(replies).toEqual([{ results: [], ended: true }])
    expect(events.map(({ type }) => type)).toEqual(['snoozed', 'started'])
    expect([world.stateOf(job), world.stateOf(bystander)]).toEqual(['scheduled', 'active'])
    expect(world.row(job)).toMatchObject({ run: 1, uncounted: 1, runAt: world.now.wall + 30 })
    world.run({ op: 'complete', seq: 2, run: 1, output: null })
    expect(world.after(30).grants).toMatchObject([{ seq: 1, run: 2, attempt: 1 }])
    expect(stepsOf(world, job)).toEqual([[1, 'short', 'sleep', null, 1]])
    // The other one keeps its end.
    world.run(waiting(1, 2, 1, [{ name: 'long', asked: 1, delay: 100 }]))
    expect(world.row(job).runAt).toBe(world.now.wall + 70)
  })

  test('that is repeated, because its answer was lost, is answered with what was over, in a later turn and in the same', () => {
    const { world, job } = running()
    const waits = [
      { name: 'over', asked: 1, delay: 0 },
      { name: 'open', asked: 1, delay: 50 },
    ]
    const command = waiting(1, 1, 4, waits, false)
    const answers = world.run(command, command).replies
    expect(answers).toMatchObject([
      { results: [{ number: 5, name: 'over' }], ended: false, next: 50 },
      { results: [{ number: 5, name: 'over' }], ended: false, next: 50 },
    ])
    world.pass(20)
    expect(world.run(command).replies).toMatchObject([{ results: [{ number: 5, name: 'over' }], ended: false, next: 30 }])
    expect(stepsOf(world, job)).toHaveLength(1)
  })

  test('of a run that was lost with its last results is asked for anew by the next one', () => {
    const { world, job } = running()
    world.run(waiting(1, 1, 9, [{ name: 'w', asked: 1, delay: 50 }], false))
    world.run({ op: 'giveBack', seq: 1, run: 1 }, { op: 'complete', seq: 2, run: 1, output: null })
    world.pass(60)
    expect(world.run(waiting(1, 2, 0, [{ name: 'w', asked: 1, delay: 50 }])).replies).toMatchObject([
      { results: [{ number: 1, name: 'w' }] },
    ])
    expect(stepsOf(world, job)).toEqual([[1, 'w', 'sleep', null, 2]])
  })

  test('beyond so many open ones is refused, and changes nothing', () => {
    const { world, job } = running()
    const wanted = Array.from({ length: 101 }, (_, index) => ({ name: `w${index}`, asked: 1, delay: 50 }))
    expect(world.refusal(waiting(1, 1, 0, wanted))).toBe('OPTION_RANGE')
    expect([world.stateOf(job), world.row(job).extras]).toEqual(['active', undefined])
  })

  test('of a year does not make its job too old for another attempt', () => {
    const { world, job } = running({ maxAttempts: 2, maxAge: 1_000 })
    world.run(waiting(1, 1, 0, [{ name: 'long', asked: 1, delay: 5_000 }]))
    world.run({ op: 'complete', seq: 2, run: 1, output: null })
    world.after(5_000)
    world.run({ op: 'fail', seq: 1, run: 2, error: ERROR, retry: 500 })
    expect(world.stateOf(job)).toBe('scheduled')
  })

  test('that is over is answered at once, and the run goes on', () => {
    const { world, job } = running()
    const waits = [
      { name: 'over', asked: 1, delay: 0 },
      { name: 'open', asked: 1, delay: 50 },
    ]
    expect(world.run(waiting(1, 1, 4, waits)).replies).toMatchObject([{ results: [{ number: 5, name: 'over' }], ended: false, next: 50 }])
    expect(world.stateOf(job)).toBe('active')
    expect(stepsOf(world, job)).toEqual([[5, 'over', 'sleep', null, 1]])
  })

  test('of a job that was cancelled ends it', () => {
    const { world, job } = running()
    world.run({ op: 'cancel', id: job })
    expect(world.run(waiting(1, 1, 0, [{ name: 'w', asked: 1, delay: 50 }])).replies).toEqual([{ results: [], ended: true }])
    expect(world.stateOf(job)).toBe('cancelled')
  })

  test('does not end while something else of the handler runs, and keeps its end', () => {
    const { world, job } = running()
    const wait = { name: 'w', asked: 1, delay: 50 }
    expect(world.run(waiting(1, 1, 0, [wait], false)).replies).toEqual([{ results: [], ended: false, next: 50 }])
    expect(world.stateOf(job)).toBe('active')
    world.after(20)
    world.run(waiting(1, 1, 0, [wait]))
    expect(world.row(job).runAt).toBe(world.now.wall + 30)
  })
})

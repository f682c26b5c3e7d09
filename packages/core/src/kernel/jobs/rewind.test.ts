/** Where a job goes on that is retried after it has recorded results, and code that does not fit them. */
import { describe, expect, test } from 'vitest'
import type { CommandOf } from '../../operations.ts'
import { START } from '../../steps.ts'
import { codeOf, enqueueing, World } from '../../testing/world.ts'

const ERROR = { name: 'E', message: 'm' }

type Result = readonly [name: string, asked: number, failed?: true]

/** A job that has recorded these results and failed, beside one that has done the same. */
function failed(...results: readonly Result[]) {
  const world = new World()
  world.attach('w', ['a'])
  const [job, bystander] = world.enqueueAll({ name: 'a', maxAttempts: 1 }, { name: 'a', maxAttempts: 1 })
  for (const { seq } of [job, bystander]) {
    results.forEach((result, index) => void world.run(stepOf(world, seq, index + 1, result)))
    world.fail({ seq })
  }
  const before = namesOf(world, bystander)
  const retry = (from?: string) => world.run({ op: 'retry', id: job, ...(from !== undefined && { from }) })
  const left = () => {
    expect([world.stateOf(bystander), namesOf(world, bystander)]).toEqual(['failed', before])
    return [world.stateOf(job), namesOf(world, job)]
  }
  return { world, job, retry, left }
}

function stepOf(world: World, seq: number, number: number, [name, asked, isFailed]: Result): CommandOf<'step'> {
  const outcome = { value: null, ...(isFailed && { error: ERROR }) }
  return { op: 'step', ...world.runOf({ seq }), number, asked, name, kind: 'step', startedAt: 1, ...outcome }
}

function namesOf(world: World, { seq }: { readonly seq: number }): string {
  return world.store
    .steps(seq, 0, 99, 999)
    .results.map(({ name }) => name)
    .join(' ')
}

describe('a retry goes on', () => {
  test('where a step had failed, and with the results of branches beside it', () => {
    const { retry, left } = failed(['a', 1], ['b', 1, true], ['c', 2])
    retry()
    expect(left()).toEqual(['active', 'a c'])
  })

  test('where several steps have failed beside one another', () => {
    const { retry, left } = failed(['a', 1], ['b', 1, true], ['c', 1, true], ['d', 2])
    retry()
    expect(left()).toEqual(['active', 'a d'])
  })

  test('after all results if none has failed: its handler had failed outside of them', () => {
    const { retry, left } = failed(['a', 1], ['b', 2])
    retry()
    expect(left()).toEqual(['active', 'a b'])
  })

  test('at a step by its name: what was asked for after it goes, whatever came before it stays', () => {
    const { retry, left } = failed(['a', 1], ['b', 1], ['c', 2], ['d', 3])
    retry('b')
    expect(left()).toEqual(['active', 'a c'])
  })

  test('from its start, and the keys of its steps change with each such retry', () => {
    const { world, job, retry, left } = failed(['a', 1], ['b', 2, true])
    retry(START)
    expect(left()).toEqual(['active', ''])
    expect(world.row(job).extras?.steps).toEqual({ generation: 1 })
    world.run(stepOf(world, job.seq, 1, ['a', 1]))
    world.fail(job)
    retry(START)
    expect(world.row(job).extras?.steps).toEqual({ generation: 2 })
  })

  test('nowhere by itself if the handler went on after a step had failed: its caller says where', () => {
    const { world, job, retry, left } = failed(['charge', 1, true], ['refund', 2])
    expect(codeOf(retry().replies[0])).toBe('AMBIGUOUS_RETRY')
    expect(left()).toEqual(['failed', 'charge refund'])
    const many = { op: 'retryMany', filter: {}, limit: 9, dryRun: false, ids: [job] } as const
    expect(world.run(many).replies).toMatchObject([{ matched: 1, changed: 0, skipped: { ambiguousRetry: 1 } }])
    expect(world.run({ op: 'redrive', limit: 1 }).replies).toMatchObject([{ count: 0 }])
    retry('charge')
    expect(left()).toEqual(['active', ''])
  })

  test('nowhere if there is no such step, and changes nothing', () => {
    const { retry, left } = failed(['a', 1])
    expect(codeOf(retry('b').replies[0])).toBe('STEP_NOT_FOUND')
    expect(left()).toEqual(['failed', 'a'])
    const world = new World()
    const id = world.enqueue('a')
    world.cancel(id)
    expect(world.refusal({ op: 'retry', id, from: 'b' })).toBe('STEP_NOT_FOUND')
    expect(world.refusal({ op: 'retry', id, from: START })).toBeUndefined()
  })

  test('by what the same turn has recorded and forgotten', () => {
    const world = new World()
    world.attach('w', ['a'])
    const id = world.enqueue('a', { maxAttempts: 1 })
    const fail = { op: 'fail', seq: 1, run: 1, error: ERROR } as const
    world.turn(
      stepOf(world, 1, 1, ['a', 1]),
      stepOf(world, 1, 2, ['b', 2, true]),
      fail,
      { op: 'retry', id },
      { op: 'cancel', id },
      { op: 'retry', id },
    )
    expect(namesOf(world, id)).toBe('a')
    world.run({ op: 'cancel', id }, { op: 'giveBack', seq: 1, run: 2 })
    expect(world.stateOf(id)).toBe('cancelled')
    const twice = world.run({ op: 'retry', id, from: 'a' }, { op: 'cancel', id }, { op: 'retry', id, from: 'a' })
    expect(twice.replies.map(codeOf)).toEqual([undefined, undefined, 'STEP_NOT_FOUND'])
    expect([world.stateOf(id), namesOf(world, id)]).toEqual(['cancelled', ''])
  })

  test('without the waits that it had opened after the place, and with the ends of the others', () => {
    const world = new World()
    world.attach('w', ['a'])
    const id = world.enqueue('a', { maxAttempts: 1 })
    world.run(stepOf(world, 1, 1, ['a', 1]))
    const waits = [
      { name: 'before', asked: 1, delay: 500 },
      { name: 'after', asked: 2, delay: 100 },
    ]
    world.run({ op: 'wait', seq: 1, run: 1, settled: 1, waits, end: false })
    world.fail(id)
    world.run({ op: 'retry', id, from: 'a' })
    expect(world.row(id).extras?.steps?.waiting).toMatchObject({
      run: 0,
      settled: 0,
      waits: [{ name: 'before', until: world.now.wall + 500 }],
    })
  })
})

describe('code that does not fit the results of its job', () => {
  const changed = (world: World, seq: number) =>
    world.run({ op: 'fail', ...world.runOf({ seq }), error: { name: 'StepsChangedError', message: 'm' }, changed: true })

  test('uses no attempt, and puts the job off, longer each time up to an hour', () => {
    const world = new World()
    world.attach('w', ['a'])
    const id = world.enqueue('a', { maxAttempts: 2, maxAge: 1_000 })
    const delays = Array.from({ length: 12 }, () => {
      changed(world, id.seq)
      const delay = world.row(id).runAt - world.now.wall
      expect(world.stateOf(id)).toBe('scheduled')
      expect(world.after(delay).grants).toMatchObject([{ attempt: 1 }])
      return delay
    })
    expect(delays).toEqual([10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 3_600, 3_600, 3_600].map((seconds) => seconds * 1_000))
    expect(world.store.lastError(id.seq)).toMatchObject({ name: 'StepsChangedError' })
    // Code that fits forgets them.
    world.run(stepOf(world, id.seq, 1, ['a', 1]))
    changed(world, id.seq)
    expect(world.row(id).runAt - world.now.wall).toBe(10_000)
  })

  test('is forgotten by a run that fits and fails', () => {
    const world = new World()
    world.attach('w', ['a'])
    const id = world.enqueue('a')
    changed(world, id.seq)
    world.after(10_000)
    world.fail(id, { retry: 500 })
    expect(world.row(id).extras?.steps?.changed).toBeUndefined()
    world.after(500)
    changed(world, id.seq)
    expect(world.row(id).runAt - world.now.wall).toBe(10_000)
  })

  test('is tried again at once by a retry, from an earlier place as well, and by retryMany', () => {
    const world = new World()
    world.attach('w', ['a'])
    const id = world.enqueue('a')
    world.run(stepOf(world, id.seq, 1, ['a', 1]))
    changed(world, id.seq)
    expect(world.run({ op: 'retry', id }).grants).toMatchObject([{ run: 2 }])
    changed(world, id.seq)
    expect(world.refusal({ op: 'retry', id, from: 'b' })).toBe('STEP_NOT_FOUND')
    expect(world.run({ op: 'retry', id, from: 'a' }).grants).toMatchObject([{ run: 3 }])
    expect(namesOf(world, id)).toBe('')
    changed(world, id.seq)
    expect(world.run({ op: 'retryMany', filter: {}, limit: 9, dryRun: false }).grants).toMatchObject([{ run: 4 }])
  })

  test('of a job that was cancelled ends it', () => {
    const world = new World()
    world.attach('w', ['a'])
    const id = world.enqueue('a')
    world.cancel(id)
    changed(world, id.seq)
    expect(world.stateOf(id)).toBe('cancelled')
  })
})

test('The data of a job that has recorded results stays, whatever its state', () => {
  const world = new World()
  world.attach('w', ['a'])
  const unique = { key: 'u', onConflict: 'skip', until: 'end' } as const
  const id = world.enqueue('a', { data: '1', unique })
  world.run(stepOf(world, id.seq, 1, ['a', 1]))
  world.pause('default')
  world.giveBack(id)
  expect(world.stateOf(id)).toBe('waiting')
  expect(world.refusal({ op: 'update', id, changes: { data: '2' } })).toBe('JOB_ACTIVE')
  for (const onConflict of ['replace', 'reschedule'] as const)
    expect(world.refusal(enqueueing({ name: 'a', data: '2', unique: { ...unique, onConflict } }))).toBe('JOB_ACTIVE')
  world.update(id, { priority: 3 })
  expect(world.row(id)).toMatchObject({ data: '1', priority: 3 })
})

test('A job of a flow goes on at its failed step as well if it comes back with its parent', () => {
  const world = new World()
  world.attach('w', ['a'])
  const [parent, child] = world.flow([{ job: { maxAttempts: 1 } }, { job: { maxAttempts: 1 }, parents: [0] }])
  world.complete(parent)
  world.run(stepOf(world, child.seq, 1, ['a', 1]), stepOf(world, child.seq, 2, ['b', 2, true]))
  world.fail(child)
  world.run({ op: 'retryTree', id: parent })
  expect([world.stateOf(child), namesOf(world, child)]).toEqual(['active', 'a'])
})

test("A retry from a step finds the job of a producer's journal, which is not named by its row, and the job of a key", () => {
  const world = new World()
  world.attach('w', ['a'])
  const at = world.now.wall
  const other = world.enqueue('a')
  const unique = { key: 'u', onConflict: 'skip', until: 'end' } as const
  const job = { name: 'a', data: null, maxAttempts: 2 }
  world.run({ op: 'forward', source: 'app', number: 4711, first: other.seq, entries: [{ at, jobs: [{ ...job, unique }] }] })
  const { seq } = world.rows().at(-1) as { readonly seq: number }
  world.run(stepOf(world, seq, 1, ['a', 1]))
  world.fail({ seq })
  const id = { seq: other.seq, node: 4711, enqueuedAt: at }
  const byKey = (from: string) => world.refusal({ op: 'byKey', of: { kind: 'unique', name: 'a', key: 'u' }, call: 'retry', from })
  expect([world.stateOf({ seq }), world.refusal({ op: 'retry', id, from: 'b' }), byKey('b')]).toEqual([
    ...['scheduled', 'STEP_NOT_FOUND', 'STEP_NOT_FOUND'],
  ])
  expect(world.refusal({ op: 'retry', id, from: 'a' })).toBeUndefined()
  expect([world.stateOf({ seq }), namesOf(world, { seq })]).toEqual(['active', ''])
  world.run(stepOf(world, seq, 1, ['a', 1]))
  world.fail({ seq })
  expect(byKey('a')).toBeUndefined()
  expect([world.stateOf({ seq }), namesOf(world, { seq }), world.stateOf(other)]).toEqual(['active', '', 'active'])
})

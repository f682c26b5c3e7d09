/** Tests how jobs are created: their options, their idempotency and unique keys, and calls with several jobs. */

import { describe, expect, test, vi } from 'vitest'
import { Refused } from '../../decision.ts'
import { ACTIVE, SCHEDULED, WAITING } from '../../lifecycle.ts'
import { DEFAULT_POLICY } from '../../policy.ts'
import { MemoryStore } from '../../testing/memoryStore.ts'
import { codeOf, enqueueing, World } from '../../testing/world.ts'
import { DIRTY_INSERT, DIRTY_START } from '../records/job.ts'

/** All that the store holds, to be held against what it held before. */
const snapshot = ({ store }: World) =>
  JSON.stringify([[...store.rows], [...store.lanes], [...store.uniqueKeys], [...store.idempotencyKeys]])

describe('the state, the options and the number of a new job', () => {
  test('a job enqueued while a worker waits is inserted as active, in the same turn and in one write', () => {
    const world = new World()
    world.attach('s', ['a'])
    const write = vi.spyOn(world.store, 'write')
    const touched: number[] = []
    write.mockImplementation(function (this: MemoryStore, effects, header) {
      touched.push(...effects.jobs.map((job) => job.dirty))
      MemoryStore.prototype.write.call(this, effects, header)
    })
    const { replies, grants, events } = world.turn(enqueueing({ name: 'a', data: '"x"' }))
    expect(touched).toEqual([DIRTY_INSERT | DIRTY_START])
    expect(grants).toEqual([
      {
        session: 's',
        seq: 1,
        run: 1,
        name: 'a',
        queue: 'default',
        attempt: 1,
        data: '"x"',
        checkpoint: null,
      },
    ])
    expect(replies[0]).toEqual([{ seq: 1, node: 7, enqueuedAt: world.now.wall, created: true }])
    expect(events.map((event) => event.type)).toEqual(['enqueued', 'started'])
    expect(world.row({ seq: 1 })).toMatchObject({ state: ACTIVE, run: 1, data: '"x"', startedAt: world.now.wall })
  })

  test('a job without a worker waits, with its data and the default options', () => {
    const world = new World()
    const job = world.enqueue('a', { data: '1' })
    expect(world.stateOf(job)).toBe('waiting')
    expect(world.row(job)).toMatchObject({
      priority: 0,
      weight: 1,
      runAt: world.now.wall,
      expiresAt: 0,
      policy: null,
      extras: undefined,
      data: '1',
    })
    expect(world.store.lanes.get(1)).toMatchObject({ queue: 'default', name: 'a', totals: { enqueued: 1 } })
  })

  test('E3: a delay counts from the clock of the engine; a runAt is a time, and one in the past means now', () => {
    const world = new World()
    const { wall } = world.now
    const delayed = world.enqueue('a', { delay: 50 })
    const timed = world.enqueue('a', { runAt: wall + 70 })
    const past = world.enqueue('a', { runAt: wall - 70 })
    expect([delayed, timed, past].map((job) => [world.stateOf(job), world.row(job).runAt - wall])).toEqual([
      ['scheduled', 50],
      ['scheduled', 70],
      ['waiting', 0],
    ])
  })

  test('the options of a job come from its call, then its definition, then its queue, then the engine', () => {
    const world = new World()
    world.attach('s', ['a'], {
      handlers: [{ name: 'a', defaults: { queue: 'media', priority: 5, weight: 2, maxAttempts: 9, timeout: Number.POSITIVE_INFINITY } }],
    })
    const plain = world.enqueue('a')
    const told = world.enqueue('a', { queue: 'other', priority: 1, maxAttempts: 2 })
    expect(world.store.lanes.get(1)).toMatchObject({ queue: 'media' })
    expect(world.row(plain)).toMatchObject({ priority: 5, weight: 2, laneId: 1 })
    expect(world.row(told)).toMatchObject({ priority: 1, weight: 2, laneId: 2 })
    expect(world.tables.jobs.get(plain.seq)?.policy).toMatchObject({ maxAttempts: 9, timeout: Number.POSITIVE_INFINITY })
    expect(world.tables.jobs.get(told.seq)?.policy).toMatchObject({ maxAttempts: 2, backoff: DEFAULT_POLICY.backoff })
    world.reload()
    world.run()
    expect(world.row(world.enqueue('a'))).toMatchObject({ priority: 5, laneId: 1 })
  })

  test('N9: the ttl of a queue applies to jobs that state none', () => {
    const world = new World()
    world.configure('q', { defaults: { ttl: 1_000 } })
    const { wall } = world.now
    const own = world.enqueue('a', { queue: 'q', ttl: 50 })
    const plain = world.enqueue('a', { queue: 'q' })
    const bystander = world.enqueue('a', { queue: 'other' })
    expect([own, plain, bystander].map((id) => world.row(id).expiresAt)).toEqual([wall + 50, wall + 1_000, 0])
    world.after(1_000)
    expect([own, plain, bystander].map((id) => world.stateOf(id))).toEqual(['failed', 'failed', 'waiting'])
  })

  test('row numbers grow, through reloads and deletions, and are never used again', () => {
    const world = new World()
    const first = world.enqueue('a')
    world.delete(first)
    world.reload()
    expect([first.seq, world.enqueue('a').seq]).toEqual([1, 2])
  })
})

describe('idempotency keys', () => {
  test('25: a job with an idempotency key is created once, whatever its data; a repeat returns the first job', () => {
    const world = new World()
    const first = world.enqueue('a', { idempotencyKey: 'k', data: '1' })
    const again = world.enqueue('a', { idempotencyKey: 'k', data: '2' })
    expect(again).toEqual({ ...first, created: false })
    expect(world.row(first).data).toBe('1')
    expect(world.store.rows.size).toBe(1)
  })

  test('an idempotency key counts within one turn and one call too', () => {
    const world = new World()
    const job = { name: 'a', idempotencyKey: 'k' }
    const { replies } = world.turn(enqueueing(job, job), enqueueing(job))
    expect(replies).toMatchObject([
      [
        { seq: 1, created: true },
        { seq: 1, created: false },
      ],
      [{ seq: 1, created: false }],
    ])
  })

  test('an idempotency key belongs to a job name', () => {
    const world = new World()
    world.enqueue('a', { idempotencyKey: 'k' })
    expect(world.enqueue('b', { idempotencyKey: 'k' }).created).toBe(true)
  })

  test('an idempotency key holds after its job is deleted, and ends after its ttl', () => {
    const world = new World()
    const first = world.enqueue('a', { idempotencyKey: 'k', idempotencyTtl: 100 })
    world.delete(first)
    world.after(99)
    expect(world.enqueue('a', { idempotencyKey: 'k' })).toMatchObject({ seq: first.seq, created: false })
    world.after(1)
    expect(world.enqueue('a', { idempotencyKey: 'k' })).toMatchObject({ seq: 2, created: true })
  })

  test('an idempotency key holds as long as its job lives, even if its ttl is over', () => {
    const world = new World()
    const first = world.enqueue('a', { idempotencyKey: 'k', idempotencyTtl: 100, delay: 1_000 })
    const bystander = world.enqueue('a', { idempotencyKey: 'other', idempotencyTtl: 10_000 })
    world.after(999)
    expect(world.enqueue('a', { idempotencyKey: 'k' })).toEqual({ ...first, created: false })
    world.cancel(first)
    expect(world.enqueue('a', { idempotencyKey: 'k' })).toMatchObject({ created: true })
    expect(world.enqueue('a', { idempotencyKey: 'other' })).toEqual({ ...bystander, created: false })
  })

  test.each(['cancel', 'delete'] as const)('an idempotency key whose ttl is over is free after a %s of its job in the same turn', (op) => {
    const world = new World()
    const id = world.enqueue('a', { idempotencyKey: 'k', idempotencyTtl: 100 })
    world.after(100)
    const job = { name: 'a', idempotencyKey: 'k' }
    const { replies } = world.turn(enqueueing(job), { op, id }, enqueueing(job), enqueueing(job))
    expect([0, 2, 3].map((place) => replies[place])).toMatchObject([
      [{ seq: id.seq, created: false }],
      [{ seq: 2, created: true }],
      [{ seq: 2, created: false }],
    ])
  })

  test('an idempotency key without a ttl holds for 24 hours', () => {
    const world = new World()
    world.cancel(world.enqueue('a', { idempotencyKey: 'k' }))
    world.after(86_400_000 - 1)
    expect(world.enqueue('a', { idempotencyKey: 'k' }).created).toBe(false)
    world.after(1)
    expect(world.enqueue('a', { idempotencyKey: 'k' }).created).toBe(true)
  })

  test('a job that repeats another of its call by its idempotency key does not conflict by its unique key', () => {
    const world = new World()
    const job = { name: 'a', idempotencyKey: 'i', unique: { key: 'u', onConflict: 'error' as const } }
    expect(world.reply(enqueueing(job, job))).toMatchObject([{ created: true }, { created: false }])
  })
})

describe('unique keys', () => {
  const unique = (onConflict: 'skip' | 'replace' | 'reschedule' | 'error') => ({ unique: { key: 'k', onConflict } })

  test('a call with onConflict skip returns the holder of the key, and does not change it', () => {
    const world = new World()
    const holder = world.enqueue('a', { ...unique('skip'), data: '1', priority: 1 })
    expect(world.enqueue('a', { ...unique('skip'), data: '2', priority: 2 })).toEqual({ ...holder, created: false })
    expect(world.row(holder)).toMatchObject({ data: '1', priority: 1 })
  })

  test('a call with onConflict replace gives the holder new data, time, priority, weight and place in line, and keeps its id', () => {
    const world = new World()
    const holder = world.enqueue('a', { ...unique('skip'), data: '1', delay: 100 })
    const bystander = world.enqueue('a', { data: '1' })
    const again = world.enqueue('a', { ...unique('replace'), data: '2', priority: 3, weight: 4 })
    expect(again).toEqual({ ...holder, created: false })
    expect(world.row(holder)).toMatchObject({ state: WAITING, data: '2', priority: 3, weight: 4, runAt: world.now.wall })
    expect(world.row(bystander)).toMatchObject({ data: '1', priority: 0 })
    world.attach('s', ['a'], { minConcurrency: 1, maxConcurrency: 1 })
    expect(world.tables.sessions.get('s')?.jobs.size).toBe(1)
    expect(world.stateOf(holder)).toBe('active')
  })

  test('a call with onConflict replace keeps all other options of the first call, and the end of its ttl', () => {
    const world = new World()
    const first = {
      queue: 'q',
      tags: ['t'],
      meta: '{"n":1}',
      concurrencyKey: 'c',
      maxAttempts: 2,
      timeout: 50,
      ttl: 1_000,
      priority: 1,
      weight: 2,
    }
    const holder = world.enqueue('a', { ...unique('skip'), ...first })
    const { runAt: _at, data: _data, ...before } = world.row(holder)
    world.pass(10)
    const other = { queue: 'r', tags: ['u'], meta: '{"n":2}', concurrencyKey: 'd', maxAttempts: 9, timeout: 99, ttl: 5 }
    world.enqueue('a', { ...unique('replace'), ...other, data: '2' })
    expect(world.row(holder)).toEqual({ ...before, runAt: world.now.wall, data: '2' })
  })

  test('a call with onConflict reschedule gives the holder a new time, and changes nothing else', () => {
    const world = new World()
    const holder = world.enqueue('a', { ...unique('skip'), data: '1' })
    world.enqueue('a', { ...unique('reschedule'), data: '2', delay: 40 })
    expect(world.row(holder)).toMatchObject({ state: SCHEDULED, data: '1', runAt: world.now.wall + 40 })
  })

  test('a call with onConflict error is refused, and the refusal names the holder', () => {
    const world = new World()
    world.enqueue('a', unique('error'))
    const reply = world.reply(enqueueing({ name: 'a', ...unique('error') })) as Refused
    expect(reply).toBeInstanceOf(Refused)
    expect(reply.refusal).toMatchObject({ code: 'UNIQUE_CONFLICT', details: { jobId: expect.stringMatching(/^[0-9a-f-]{36}$/) } })
  })

  test('a unique key belongs to a job name, not to a queue', () => {
    const world = new World()
    const holder = world.enqueue('a', unique('skip'))
    expect(world.enqueue('a', { ...unique('skip'), queue: 'q' })).toMatchObject({ seq: holder.seq, created: false })
    expect(world.enqueue('b', unique('skip')).created).toBe(true)
  })

  test('unique-held-while-running: replace and reschedule of an active job are refused, skip returns the job', () => {
    const world = new World()
    world.attach('s', ['a'])
    const holder = world.enqueue('a', unique('skip'))
    expect(world.stateOf(holder)).toBe('active')
    expect(world.enqueue('a', unique('skip'))).toEqual({ ...holder, created: false })
    expect(world.refusal(enqueueing({ name: 'a', ...unique('replace') }))).toBe('JOB_ACTIVE')
    expect(world.refusal(enqueueing({ name: 'a', ...unique('reschedule') }))).toBe('JOB_ACTIVE')
  })

  test.each(['complete', 'cancel', 'fail', 'delete', 'expire'] as const)('a unique key is free once its job is final: %s', (end) => {
    const world = new World()
    if (end === 'complete' || end === 'fail') world.attach('s', ['a'])
    const holder = world.enqueue('a', { ...unique('skip'), ttl: 10 })
    if (end === 'complete') world.complete(holder)
    else if (end === 'fail') world.fail(holder, { retry: false })
    else if (end === 'expire') world.after(10)
    else world.call({ op: end, id: holder })
    expect(world.enqueue('a', unique('error')).created).toBe(true)
  })

  test('a unique key until the start: a call during the run creates another job, and nothing that happens to the first job affects its key', () => {
    const world = new World()
    world.attach('s', ['a'])
    const bystander = world.enqueue('a', { unique: { key: 'other', onConflict: 'skip', until: 'start' }, delay: 60_000 })
    const unique = { unique: { key: 'k', onConflict: 'skip', until: 'start' } } as const
    const first = world.enqueue('a', { ...unique, delay: 10 })
    expect(world.enqueue('a', unique)).toEqual({ ...first, created: false })
    expect(world.after(10).grants).toMatchObject([{ seq: first.seq }])
    const second = world.enqueue('a', { ...unique, delay: 60_000 })
    expect(second).toMatchObject({ seq: first.seq + 1, created: true })
    const isHeld = () => expect(world.enqueue('a', unique)).toEqual({ ...second, created: false })
    isHeld()
    // Each way back into the line, and each end.
    world.fail(first, { retry: 10 })
    isHeld()
    world.after(10)
    world.snooze(first, 10)
    isHeld()
    world.after(10)
    world.giveBack(first)
    isHeld()
    world.fail(first, { retry: false })
    isHeld()
    world.retry(first)
    isHeld()
    world.complete(first)
    isHeld()
    world.delete(first)
    isHeld()
    expect([world.stateOf(bystander), world.row(bystander).extras?.uniqueKey]).toEqual(['scheduled', 'other'])
  })

  test('a unique key until the start is free in the turn that starts its job, and stays held by a job that has not started, also after a restart', () => {
    const world = new World()
    world.attach('s', ['b'])
    const unique = { unique: { key: 'k', onConflict: 'skip', until: 'start' } } as const
    const [one, two] = [world.enqueue('b', unique), world.enqueue('b', unique)]
    expect([one.created, two.created, two.seq]).toEqual([true, true, one.seq + 1])
    const waiting = world.enqueue('a', unique)
    world.reload()
    expect(world.enqueue('a', unique)).toEqual({ ...waiting, created: false })
    world.cancel(waiting)
    const next = world.enqueue('a', unique)
    expect(next.created).toBe(true)
    expect(codeOf(world.reply({ op: 'retry', id: waiting }))).toBe('UNIQUE_CONFLICT')
    world.cancel(next)
    world.retry(waiting)
    expect(world.enqueue('a', unique)).toEqual({ ...waiting, created: false })
  })

  test('a unique key is free for later commands of the turn that frees it', () => {
    const world = new World()
    const holder = world.enqueue('a', unique('skip'))
    const { replies } = world.turn({ op: 'cancel', id: holder }, enqueueing({ name: 'a', ...unique('error') }))
    expect(replies).toMatchObject(['cancelled', [{ created: true }]])
  })

  test('retryable-unique-not-self-conflict: a job that waits for its retry holds its key, and no attempt of it conflicts', () => {
    const world = new World()
    world.attach('s', ['a'])
    const job = world.enqueue('a', { ...unique('error'), backoff: { type: 'fixed', delay: 10 }, maxAttempts: 3 })
    for (let run = 1; run <= 2; run++) {
      world.fail(job)
      expect(world.stateOf(job)).toBe('scheduled')
      expect(world.refusal(enqueueing({ name: 'a', ...unique('error') }))).toBe('UNIQUE_CONFLICT')
      world.after(10)
      expect(world.stateOf(job)).toBe('active')
    }
  })

  test('a job can enqueue its successor under its own unique key with its completion', () => {
    for (const onConflict of ['skip', 'replace', 'reschedule', 'error'] as const) {
      const world = new World()
      world.attach('s', ['a'])
      const job = world.enqueue('a', unique(onConflict))
      world.call({ op: 'complete', seq: job.seq, run: 1, output: null, enqueues: [{ name: 'a', data: '2', ...unique(onConflict) }] })
      expect([world.stateOf(job), world.stateOf({ seq: 2 })]).toEqual(['completed', 'active'])
    }
  })

  test('two jobs of one call with the same unique key are one job by skip and replace, and are both refused by error', () => {
    const world = new World()
    expect(world.reply(enqueueing({ name: 'a', data: '1', ...unique('skip') }, { name: 'a', data: '2', ...unique('skip') }))).toMatchObject(
      [
        { seq: 1, created: true },
        { seq: 1, created: false },
      ],
    )
    world.cancel({ seq: 1 })
    world.run(enqueueing({ name: 'a', data: '3', ...unique('skip') }, { name: 'a', data: '4', ...unique('replace') }))
    expect(world.row({ seq: 2 }).data).toBe('4')
    world.cancel({ seq: 2 })
    const before = snapshot(world)
    const reply = world.reply(enqueueing({ name: 'a', ...unique('error') }, { name: 'a', ...unique('error') })) as Refused
    // Neither job exists, so no id is given.
    expect(reply.refusal).toMatchObject({
      code: 'UNIQUE_CONFLICT',
      message: expect.stringContaining('two jobs of the call'),
      details: { jobId: '' },
    })
    expect(snapshot(world)).toBe(before)
  })

  test('the holder of a unique key is found although it has left memory in the same turn', () => {
    const world = new World()
    world.attach('s', ['a'], { minConcurrency: 1, maxConcurrency: 1 })
    const running = world.enqueue('a')
    const waiting = world.enqueue('a', unique('skip'))
    // Given back, the first stands before the second, whose record leaves the window for it.
    const { replies } = world.turn(
      enqueueing({ name: 'a', unique: { key: 'l', onConflict: 'skip' } }),
      { op: 'giveBack', seq: running.seq, run: 1 },
      enqueueing({ name: 'a', ...unique('skip') }),
      enqueueing({ name: 'a', unique: { key: 'l', onConflict: 'skip' } }),
    )
    expect(replies.slice(2)).toMatchObject([[{ seq: waiting.seq, created: false }], [{ seq: 3, created: false }]])
  })
})

describe('a call with several jobs creates all of them or none', () => {
  test('E14: one refused job refuses its whole call, and nothing changes', () => {
    const world = new World()
    world.attach('s', ['a'])
    world.enqueue('a', { unique: { key: 'k', onConflict: 'skip' }, data: 'first' })
    world.enqueue('b', { unique: { key: 'l', onConflict: 'skip' }, data: 'second' })
    const before = snapshot(world)
    const turned = world.run(
      enqueueing(
        { name: 'a', data: '1' },
        { name: 'new', idempotencyKey: 'i' },
        { name: 'b', data: '2', unique: { key: 'l', onConflict: 'replace' } },
        { name: 'a', unique: { key: 'k', onConflict: 'error' } },
      ),
    )
    expect(turned.replies.map(codeOf)).toEqual(['UNIQUE_CONFLICT'])
    expect([turned.grants, turned.events]).toEqual([[], []])
    expect(snapshot(world)).toBe(before)
  })

  test.each(['skip', 'replace', 'reschedule'] as const)(
    'a call with onConflict %s that is repeated under its idempotency key returns the same job',
    (onConflict) => {
      const world = new World()
      const holder = world.enqueue('a', { unique: { key: 'k', onConflict: 'skip' }, delay: 5 })
      const again = { unique: { key: 'k', onConflict }, idempotencyKey: 'i' }
      expect(world.enqueue('a', again)).toMatchObject({ seq: holder.seq, created: false })
      // Whatever has become of it by then.
      world.cancel(holder)
      expect(world.enqueue('a', again)).toMatchObject({ seq: holder.seq, created: false })
      expect(world.store.rows.size).toBe(1)
    },
  )

  test('a refused call does not refuse other calls of its turn', () => {
    const world = new World()
    world.enqueue('a', { unique: { key: 'k', onConflict: 'skip' } })
    const { replies } = world.turn(
      enqueueing({ name: 'a' }),
      enqueueing({ name: 'a' }, { name: 'a', unique: { key: 'k', onConflict: 'error' } }),
      enqueueing({ name: 'a' }),
    )
    expect(replies.map(codeOf)).toEqual([undefined, 'UNIQUE_CONFLICT', undefined])
    expect(world.store.rows.size).toBe(3)
  })

  test('31, 32: completions are accepted while new jobs are refused', () => {
    const world = new World()
    world.attach('s', ['a'])
    const job = world.enqueue('a')
    world.refusing = { code: 'DISK_FULL', message: 'full' }
    expect(world.refusal(enqueueing({ name: 'a' }))).toBe('DISK_FULL')
    world.call({ op: 'heartbeat', seq: job.seq, run: 1 })
    world.complete(job)
    expect(world.stateOf(job)).toBe('completed')
    expect(world.store.rows.size).toBe(1)
  })
})

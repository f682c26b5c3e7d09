/** Tests jobs that wait for jobs that they create, case by case. Random joins are in flows.test.ts. */

import { beforeEach, describe, expect, test } from 'vitest'
import type { JoinCommand } from '../../flowCommands.ts'
import { LIMITS } from '../../limits.ts'
import type { Enqueued } from '../../replies.ts'
import { DEFAULT_RETENTION } from '../../retention.ts'
import { codeOf, keyOfJob, World } from '../../testing/world.ts'

let world: World

beforeEach(() => {
  world = new World()
})

const states = (...jobs: readonly { readonly seq: number }[]) => jobs.map((job) => world.stateOf(job))
const joining = (job: Enqueued, name: string, jobs: JoinCommand['jobs']): JoinCommand => ({ op: 'join', ...world.runOf(job), name, jobs })
const child = { name: 'child', data: null }
const complete = (job: { readonly seq: number }) => world.complete(job)
const fail = (job: { readonly seq: number }) => world.fail(job, { retry: false })
/** A job that was joined by a run of this one, by its place behind it. */
const joined = ({ seq }: Enqueued, place = 1) => ({ seq: seq + place })

describe('a run that joins jobs', () => {
  test('a run that joins jobs ends; its job waits without a place of its worker, and runs again once all joined jobs have ended, in whatever state', () => {
    world.attach('s', ['parent', 'child'], { minConcurrency: 2, maxConcurrency: 2 })
    const bystander = world.enqueue('other')
    const job = world.enqueue('parent', { maxAttempts: 1 })
    expect(world.run(joining(job, 'pages', [child, child, child])).replies).toEqual([true])
    const [a, b, c] = [joined(job, 1), joined(job, 2), joined(job, 3)]
    // It holds no place: two of the three run.
    expect(states(job, a, b, c, bystander)).toEqual(['blocked', 'active', 'active', 'waiting', 'waiting'])
    expect(world.tables.jobs.has(job.seq)).toBe(false)
    complete(a)
    fail(b)
    expect(states(job, c)).toEqual(['blocked', 'active'])
    const { grants } = complete(c)
    expect(grants).toMatchObject([{ seq: job.seq, run: 2, attempt: 1 }])
    complete(job)
    expect(states(job, a, b, c, bystander)).toEqual(['completed', 'completed', 'failed', 'completed', 'waiting'])
  })

  test('a job can join other jobs in its next run, and its row records which jobs belong to which join', () => {
    world.attach('s', ['parent', 'child'])
    const job = world.enqueue('parent', { tags: ['t'] })
    world.run(joining(job, 'pages', [child, child]))
    world.pass(5)
    for (const place of [1, 2]) complete(joined(job, place))
    world.run(joining(job, 'index', [child]))
    expect(world.stateOf(job)).toBe('blocked')
    complete({ seq: job.seq + 3 })
    expect(world.row(job)).toMatchObject({
      run: 3,
      uncounted: 2,
      extras: {
        tags: ['t'],
        flow: {
          parents: 3,
          joined: [
            { name: 'pages', place: 1, jobs: 2, first: { seq: job.seq + 1 } },
            { name: 'index', place: 3, jobs: 1, first: { seq: job.seq + 3, enqueuedAt: job.enqueuedAt + 5 } },
          ],
        },
      },
    })
    expect(world.store.flows.parents(job.seq, 0, 9, 1e6).rows.map(({ ref }) => ref)).toEqual(['pages/0', 'pages/1', 'index/0'])
  })

  test('a job of a flow does not fail with the jobs that it joins, and its delay counts once', () => {
    world.attach('s', ['a', 'child'])
    const [first, second, third] = world.flow([{}, { parents: [0], job: { delay: 1_000 } }, { parents: [1] }])
    complete(first)
    world.after(1_000)
    world.run(joining(second, 'pages', [child]))
    fail({ seq: third.seq + 1 })
    expect(states(second, third)).toEqual(['active', 'blocked'])
    complete(second)
    expect(states(second, third)).toEqual(['completed', 'active'])
  })

  test('a joined job that leaves no row still releases its parent and leaves its output', () => {
    world = new World({ settings: { retention: { ...DEFAULT_RETENTION, completed: { ageMs: 1, count: 0 } } } })
    world.attach('s', ['parent', 'child'])
    const job = world.enqueue('parent')
    world.run(joining(job, 'pages', [child]))
    const only = joined(job)
    world.complete(only, '"kept"')
    expect(states(job, only)).toEqual(['active', 'gone'])
    expect(world.store.flows.parents(job.seq, 0, 9, 1e6).rows).toMatchObject([{ ref: 'pages/0', output: '"kept"' }])
  })

  test('a job with a unique key holds the key while it waits for joined jobs', () => {
    world.attach('s', ['parent'])
    const unique = { key: 'k', onConflict: 'skip' } as const
    const job = world.enqueue('parent', { unique })
    world.run(joining(job, 'pages', [child]))
    expect(world.enqueue('parent', { unique })).toMatchObject({ seq: job.seq, created: false })
  })

  test('a job whose unique key another job has by now does not come back with a retry of its tree', () => {
    world.attach('s', ['parent', 'child'])
    const unique = { key: 'k', onConflict: 'skip' } as const
    const [job, bystander] = [world.enqueue('parent', { unique }), world.enqueue('parent', { unique: { ...unique, key: 'other' } })]
    for (const each of [job, bystander]) world.run(joining(each, 'pages', [child]))
    const [only, others] = [joined(bystander, 1), joined(bystander, 2)]
    for (const each of [job, bystander]) world.cancel(each)
    for (const each of [only, others]) fail(each)
    expect(states(job, bystander)).toEqual(['cancelled', 'cancelled'])
    const holder = world.enqueue('parent', { unique, delay: 1_000 })
    world.reload()
    for (const each of [only, others]) world.run({ op: 'retryTree', id: keyOfJob(world.row(each)) })
    world.run()
    expect(states(job, bystander, holder)).toEqual(['cancelled', 'blocked', 'scheduled'])
    expect(world.enqueue('parent', { unique })).toMatchObject({ seq: holder.seq, created: false })
  })
})

describe('the end of the wait for joined jobs', () => {
  test('a crash between the end of the joined job and the release of its parent joins no job twice, and the parent is released', () => {
    world.attach('s', ['parent', 'child'])
    const job = world.enqueue('parent')
    world.run(joining(job, 'pages', [child]))
    const only = joined(job)
    world.turn({ op: 'complete', ...world.runOf(only), output: null })
    expect(world.stateOf(job)).toBe('blocked')
    world.reload()
    world.run()
    expect(world.stateOf(job)).toBe('waiting')
    expect(world.store.rows.size).toBe(2)
  })

  test('a worker that sends a join again gets the answer that its run is over', () => {
    world.attach('s', ['parent'])
    const job = world.enqueue('parent')
    const said = joining(job, 'pages', [child])
    world.run(said)
    expect(world.refusal(said)).toBe('STALE_RUN')
    expect(world.store.rows.size).toBe(2)
  })

  test('a job that was cancelled while it ran joins no job; a waiting one ends at once when cancelled, and the jobs that it joined continue', () => {
    world.attach('s', ['parent', 'child'])
    const [early, late] = [world.enqueue('parent'), world.enqueue('parent')]
    world.cancel(early)
    expect(world.run(joining(early, 'pages', [child])).replies).toEqual([true])
    expect([world.stateOf(early), world.store.rows.size]).toEqual(['cancelled', 2])
    world.run(joining(late, 'pages', [child]))
    world.cancel(late)
    const only = joined(late)
    expect(states(late, only)).toEqual(['cancelled', 'active'])
    complete(only)
    expect(states(late, only)).toEqual(['cancelled', 'completed'])
  })

  test('a job waits again if a joined job is retried before the next run of the waiting job', () => {
    world.attach('s', ['child'])
    world.attach('p', ['parent'], { minConcurrency: 1, maxConcurrency: 1 })
    const job = world.enqueue('parent')
    world.run(joining(job, 'pages', [child]))
    const busy = world.enqueue('parent')
    const only = joined(job)
    fail(only)
    expect(states(job, busy)).toEqual(['waiting', 'active'])
    world.run({ op: 'cancel', id: keyOfJob(job) }, { op: 'retry', id: keyOfJob(world.row(only)) })
    world.retry(job)
    expect(states(job, only)).toEqual(['blocked', 'active'])
    complete(only)
    expect(world.stateOf(job)).toBe('waiting')
  })
})

describe('a join that is refused while its run continues', () => {
  const refused = (job: Enqueued, name: string, jobs: JoinCommand['jobs']) => {
    const code = codeOf(world.run(joining(job, name, jobs)).replies[0])
    expect(world.stateOf(job)).toBe('active')
    return code
  }

  test('a join is refused without jobs, with jobs that have keys, with a name that is used already, and beyond the allowed number', () => {
    world.attach('s', ['parent', 'child'])
    const job = world.enqueue('parent')
    expect(refused(job, 'pages', [])).toBe('OPTION_RANGE')
    expect(refused(job, 'pages', [{ ...child, idempotencyKey: 'k' }])).toBe('OPTION_RANGE')
    expect(refused(job, 'pages', [{ ...child, unique: { key: 'k', onConflict: 'skip' } }])).toBe('OPTION_RANGE')
    for (let count = 0; count < LIMITS.joinsPerJob; count++) {
      world.run(joining(job, `${count}`, [child]))
      complete({ seq: world.tables.nextSeq - 1 })
    }
    expect(refused(job, '0', [child])).toBe('OPTION_RANGE')
    expect(refused(job, 'one more', [child])).toBe('OPTION_RANGE')
  })

  test('a join is refused by a full queue and while the disk is full', () => {
    world.attach('s', ['parent'])
    world.configure('small', { maxLength: 1 })
    const job = world.enqueue('parent')
    expect(refused(job, 'pages', [child, { ...child, queue: 'small' }, { ...child, queue: 'small' }])).toBe('QUEUE_FULL')
    world.refusing = { code: 'DISK_FULL', message: 'full' }
    expect(refused(job, 'pages', [child])).toBe('DISK_FULL')
    expect(world.store.rows.size).toBe(1)
  })

  test('a join is refused if a joined job could start only after the end of the job that waits for it', () => {
    world.configure('default', { keyOrder: 'strict' })
    world.attach('s', ['parent', 'child'])
    const job = world.enqueue('parent', { concurrencyKey: 'k' })
    expect(refused(job, 'pages', [{ ...child, concurrencyKey: 'k' }])).toBe('OPTION_RANGE')
    world.run(joining(job, 'pages', [{ ...child, concurrencyKey: 'other' }]))
    const later = world.enqueue('parent', { concurrencyKey: 'k' })
    complete({ seq: job.seq + 1 })
    expect(states(job, later)).toEqual(['active', 'waiting'])
  })
})

/** Many jobs at once: an array is one command, an iterable several, and none is half done unnoticed. */
import { runInNewContext } from 'node:vm'
import { type CommandOf, DiskFullError, type Enqueued, LIMITS } from '@millrace/core'
import { defineJob, type JobRequest, type JobType } from '@millrace/worker'
import { beforeEach, describe, expect, test } from 'vitest'
import { enqueueMany, type JobRequests } from './enqueueMany.ts'
import { Mailbox } from './mailbox.ts'
import { FakePort, quiet } from './testing/fakePort.ts'

let port: FakePort
let mailbox: Mailbox
let nextSeq = 1

beforeEach(() => {
  port = new FakePort()
  mailbox = new Mailbox(port)
  port.listen({
    deliver: ({ replies }) => {
      for (const reply of replies) mailbox.answer(reply)
      mailbox.settle()
    },
    broken: () => {},
    lapsed: () => {},
    reopened: () => {},
    ended: () => {},
  })
  port.answer('enqueue', created)
})

const created = ({ jobs }: CommandOf<'enqueue'>): Enqueued[] => jobs.map(() => ({ seq: nextSeq++, node: 1, enqueuedAt: 1, created: true }))

const many = (requests: JobRequests) => enqueueMany((jobs) => mailbox.call<'enqueue'>({ op: 'enqueue', jobs }), requests, LIMITS.dataBytes)
const sizes = () => port.of('enqueue').map(({ command }) => command.jobs.length)

/** Refuses what is no number; later, where it is asynchronous. */
function numbers(asynchronous: boolean): NonNullable<JobType<number>['schema']> {
  const check = (value: unknown) => (typeof value === 'number' ? { value } : { issues: [{ message: 'must be a number' }] })
  return { '~standard': { version: 1, vendor: 'test', validate: (value) => (asynchronous ? Promise.resolve(check(value)) : check(value)) } }
}

describe('an array', () => {
  test('is one command, in order, with options and defaults', async () => {
    const a = defineJob({ name: 'a', queue: 'q' })
    const keys = await many([{ job: a, data: 1 }, { job: 'b' }, { job: a, data: 2, options: { priority: 3 } }])
    expect(keys).toHaveLength(3)
    expect(port.commands).toEqual([
      {
        op: 'enqueue',
        jobs: [
          { name: 'a', data: '1', queue: 'q' },
          { name: 'b', data: null },
          { name: 'a', data: '2', queue: 'q', priority: 3 },
        ],
      },
    ])
  })

  test('that is empty asks nothing', async () => {
    expect(await many([])).toEqual([])
    expect(port.posts).toEqual([])
  })

  test.each([false, true])('whose schemas are asynchronous (%s) keeps its order', async (asynchronous) => {
    const a = defineJob({ name: 'a', schema: numbers(asynchronous) })
    await many([3, 1, 2].map((data) => ({ job: a, data })))
    expect(port.of('enqueue')[0]?.command.jobs.map((job) => job.data)).toEqual(['3', '1', '2'])
  })

  test.each([false, true])('of which one item is refused by its schema (asynchronous: %s) is refused whole', async (asynchronous) => {
    const a = defineJob({ name: 'a', schema: numbers(asynchronous) })
    await expect(
      many([
        { job: a, data: 1 },
        { job: a, data: 'x' },
        { job: a, data: 'y' },
      ]),
    ).rejects.toMatchObject({ code: 'VALIDATION' })
    expect(port.posts).toEqual([])
  })

  test('of which one item is refused at once, and another later: the second is not left unhandled', async () => {
    const reasons: unknown[] = []
    const note = (reason: unknown) => void reasons.push(reason)
    process.on('unhandledRejection', note)
    const a = defineJob({ name: 'a', schema: numbers(true) })
    await expect(
      many([
        { job: a, data: 'x' },
        { job: 'b', options: { priority: Number.NaN } },
      ]),
    ).rejects.toThrow(/priority/)
    await quiet()
    process.off('unhandledRejection', note)
    expect(reasons).toEqual([])
  })

  test('of more than one command may hold is refused, by jobs and by bytes', async () => {
    await expect(many(Array.from({ length: LIMITS.jobsPerCommand + 1 }, () => ({ job: 'not even looked at!' })))).rejects.toThrow(
      /at most 10000 jobs/,
    )
    const data = 'x'.repeat(LIMITS.dataBytes - 2)
    await expect(many(Array.from({ length: 17 }, () => ({ job: 'a', data })))).rejects.toThrow(/at most 16777216 bytes/)
    expect(port.posts).toEqual([])
  })
})

describe('an iterable', () => {
  function* of(count: number, data?: unknown): Generator<JobRequest> {
    for (let job = 0; job < count; job++) yield { job: 'a', data: data ?? job }
  }

  test.for([0, 1, 999, 1_000, 1_001, 2_500])('of %s goes in chunks of 1,000, one after the other', async (count) => {
    expect(await many(of(count))).toHaveLength(count)
    const whole = Array.from({ length: Math.floor(count / 1_000) }, () => 1_000)
    expect(sizes()).toEqual(count % 1_000 === 0 ? whole : [...whole, count % 1_000])
    expect(port.posts.every((requests) => requests.length === 1)).toBe(true)
  })

  test('of large items goes in chunks of no more bytes than a command may hold', async () => {
    await many(of(40, 'x'.repeat(LIMITS.dataBytes - 2)))
    expect(sizes()).toEqual([15, 15, 10])
  })

  test('that is asynchronous takes no more than a chunk before the last is answered', async () => {
    let taken = 0
    async function* slowly() {
      for (const request of of(2_500)) {
        taken++
        yield request
      }
    }
    port.answer('enqueue', (command) => {
      expect(taken).toBeLessThanOrEqual(port.of('enqueue').length * 1_000 + 1)
      return created(command)
    })
    expect(await many(slowly())).toHaveLength(2_500)
  })

  test('that fails half way says how many jobs there are, and is closed', async () => {
    let closed = false
    function* failing() {
      try {
        yield* of(1_500)
        throw new Error('the source is gone')
      } finally {
        closed = true
      }
    }
    await expect(many(failing())).rejects.toMatchObject({ message: 'the source is gone', committed: 1_000 })
    function* wrong() {
      try {
        yield* of(2_200)
        yield { job: 'a', options: { priority: Number.NaN } }
        yield* of(5_000)
      } finally {
        closed = true
      }
    }
    closed = false
    await expect(many(wrong())).rejects.toMatchObject({ code: 'OPTION_TYPE', committed: 2_000 })
    expect(closed).toBe(true)
  })

  test('of which a chunk is refused says so too, and goes no further', async () => {
    port.answer('enqueue', (command) => (port.of('enqueue').length === 3 ? new DiskFullError('no room') : created(command)))
    await expect(many(of(9_000))).rejects.toMatchObject({ code: 'DISK_FULL', committed: 2_000 })
    expect(sizes()).toEqual([1_000, 1_000, 1_000])
  })
})

test.for<readonly [what: string, requests: unknown, message: RegExp]>([
  ['nothing', undefined, /enqueueMany takes an array/],
  ['a text', 'abc', /enqueueMany takes an array/],
  ['an object', { job: 'a' }, /enqueueMany takes an array/],
  ['an array of null', [null], /jobs\[0\] must be \{ job, data, options \}/],
  ['an array of an item without a job', [{ data: 1 }], /jobs\[0\] has no job: an item is \{ job, data, options \}/],
  ['a name that is none', [{ job: 'a b' }], /name/],
  ['an unknown key', [{ job: 'a' }, { job: 'a', dta: 1, option: {} }], /^jobs\[1\] has no option 'dta'; did you mean 'data'\?$/],
  ['a misspelt key', [{ job: 'a', option: { delay: '1h' } }], /^jobs\[0\] has no option 'option'; did you mean 'options'\?$/],
  ['an option beside options', [{ job: 'a', delay: '1h' }], /^jobs\[0\] has no option 'delay'; it accepts job, data, options$/],
  ['an unknown key in an iterable', [{ job: 'a' }, { job: 'a', dta: 1 }].values(), /^jobs\[1\] has no option 'dta'/],
])('%s is refused', async ([, requests, message]) => {
  await expect(many(requests as never)).rejects.toThrow(message)
  expect(port.posts).toEqual([])
})

describe('an item', () => {
  class Getters {
    get job() {
      return 'a'
    }
    get data() {
      return 1
    }
  }
  class Fields {
    readonly job = 'a'
    readonly data = 1
    describe() {}
  }
  const inherited = Object.assign(Object.create({ describe() {}, data: 2 }), { job: 'a', data: 1 })

  test.for<readonly [what: string, item: unknown]>([
    ['is of a class with getters', new Getters()],
    ['is of a class with fields', new Fields()],
    ['inherits an enumerable method', inherited],
    ['comes from another realm', runInNewContext("({ job: 'a', data: 1 })")],
    ['has no prototype', Object.assign(Object.create(null), { job: 'a', data: 1 })],
    ['is frozen', Object.freeze({ job: 'a', data: 1 })],
    ['is a proxy', new Proxy({ job: 'a', data: 1 }, {})],
  ])('that %s is enqueued', async ([, item]) => {
    await many([item] as never)
    expect(port.of('enqueue')[0]?.command.jobs).toEqual([{ name: 'a', data: '1' }])
  })

  test('that inherits a method and has an unknown key is refused', async () => {
    await expect(many([Object.assign(Object.create({ describe() {} }), { job: 'a', dta: 1 })])).rejects.toThrow("no option 'dta'")
    expect(port.posts).toEqual([])
  })
})

/** Calls on their way: a tick's in one post, bounded, each with its own answer, through every break. */
import { type Command, type Enqueued, LIMITS, type NewJob } from '@millrace/core'
import { beforeEach, describe, expect, test } from 'vitest'
import { Mailbox } from './mailbox.ts'
import { FakePort, quiet } from './testing/fakePort.ts'

const enqueue = (data: NewJob['data'] = null): Command & { op: 'enqueue' } => ({ op: 'enqueue', jobs: [{ name: 'a', data }] })
const created: readonly Enqueued[] = [{ seq: 1, node: 1, enqueuedAt: 1, created: true }]
const id = { seq: 1, node: 1, enqueuedAt: 1 }
const SESSION = { worker: 'w', host: 'h', pid: 1, local: true, handlers: [], minConcurrency: 1, maxConcurrency: 1, abortGrace: 0 }

let port: FakePort
let mailbox: Mailbox

beforeEach(() => {
  port = new FakePort()
  mailbox = new Mailbox(port, setImmediate)
  port.listen({
    deliver: ({ replies }) => {
      for (const reply of replies) mailbox.answer(reply)
      mailbox.settle()
    },
    broken: (refusal) => mailbox.break(refusal),
    lapsed: () => {},
    reopened: () => mailbox.mend(() => {}),
    ended: (refusal) => mailbox.end(refusal),
  })
})

/** What became of a call: its value, or the code of its error; 'open' where nothing has. */
function outcomes(calls: readonly Promise<unknown>[]): Promise<unknown[]> {
  const open = quiet().then(() => 'open')
  return Promise.all(calls.map((call) => Promise.race([call.catch((error: { code?: string }) => error.code), open])))
}

/** As when a message or a timer calls: ticks come before promises then. */
const inTask = (run: () => void) => new Promise<void>((resolve) => setImmediate(() => resolve(run())))

const enqueues = (count: number) => Array.from({ length: count }, () => mailbox.call<'enqueue'>(enqueue()))

describe('sending', () => {
  test('what is called within a tick leaves in one post, in order, numbered from 1', async () => {
    void mailbox.call<'enqueue'>(enqueue('1'))
    void mailbox.call<'stats'>({ op: 'stats' })
    for (const other of enqueues(3)) void other
    expect(port.posts).toEqual([])
    await quiet()
    expect(port.posts).toHaveLength(1)
    expect(port.requests.map((request) => request.id)).toEqual([1, 2, 3, 4, 5])
    expect(port.commands.map((command) => command.op)).toEqual(['enqueue', 'stats', 'enqueue', 'enqueue', 'enqueue'])
  })

  test('also what is called in the promises that follow, however long their chain', async () => {
    const chain = async (length: number) => {
      for (let link = 0; link < length; link++) await undefined
      void mailbox.call<'stats'>({ op: 'stats' })
    }
    await inTask(() => {
      for (const length of [0, 1, 5, 100]) void chain(length)
    })
    await quiet()
    expect(port.posts.map((requests) => requests.length)).toEqual([4])
  })

  test('and what an answer sets off, at once and later', async () => {
    const [first] = enqueues(1)
    const later = first?.then(() => mailbox.call<'stats'>({ op: 'stats' }))
    await quiet()
    await inTask(() => {
      port.reply(1, created)
      void mailbox.call<'complete'>({ op: 'complete', seq: 1, run: 1, output: null })
    })
    await quiet()
    expect(port.posts.map((requests) => requests.map(({ command }) => command.op))).toEqual([['enqueue'], ['complete', 'stats']])
    expect(await outcomes([later as Promise<unknown>])).toEqual(['open'])
  })

  test('a burst leaves in posts of 128, so that the far side begins with the first while the rest is being called', async () => {
    enqueues(300)
    expect(port.posts.map((requests) => requests.length)).toEqual([128, 128])
    await quiet()
    expect(port.posts.map((requests) => requests.length)).toEqual([128, 128, 44])
    expect(port.requests.map(({ id }) => id)).toEqual(Array.from({ length: 300 }, (_, index) => index + 1))
  })

  test('in a turn of the event loop the first tick that calls something posts at once; the calls of its other ticks wait for the end of the turn', async () => {
    const posted: number[] = []
    const tick = () =>
      inTask(() => {
        posted.push(port.posts.length)
        void mailbox.call<'stats'>({ op: 'stats' })
      })
    await Promise.all([tick(), tick(), tick(), tick()])
    await quiet()
    expect(posted).toEqual([0, 1, 1, 1])
    expect(port.posts.map((requests) => requests.length)).toEqual([1, 3])
    await inTask(() => void mailbox.call<'stats'>({ op: 'stats' }))
    await new Promise<void>((resolve) => process.nextTick(resolve))
    expect(port.posts.map((requests) => requests.length)).toEqual([1, 3, 1])
  })

  test('an attach leaves with its tick all the same, and what was gathered before it: what it says that a worker holds is so now', async () => {
    const stats = () => inTask(() => void mailbox.call<'stats'>({ op: 'stats' }))
    await Promise.all([
      stats(),
      stats(),
      inTask(() => void mailbox.call<'attach'>({ op: 'attach', session: { ...SESSION, uuid: 's' }, held: [] })),
    ])
    await new Promise<void>((resolve) => process.nextTick(resolve))
    expect(port.posts.map((requests) => requests.map(({ command }) => command.op))).toEqual([['stats'], ['stats', 'attach']])
  })

  test('a tick in which nothing is called posts nothing', async () => {
    await mailbox.settle()
    await quiet()
    expect(port.posts).toEqual([])
  })
})

describe('answers', () => {
  test('find their call by number, in whatever order they come', async () => {
    const calls = [
      mailbox.call<'cancel'>({ op: 'cancel', id }),
      mailbox.call<'cancel'>({ op: 'cancel', id }),
      mailbox.call<'stats'>({ op: 'stats' }),
    ]
    await quiet()
    port.reply(2, 'second')
    port.reply(1, 'first')
    expect(await outcomes(calls)).toEqual(['first', 'second', 'open'])
  })

  test('that refuse are the typed error, with its details', async () => {
    const call = mailbox.call<'cancel'>({ op: 'cancel', id })
    await quiet()
    port.refuse(1, 'JOB_FINISHED', 'too late', { jobId: 'x' })
    await expect(call).rejects.toMatchObject({
      name: 'JobFinishedError',
      code: 'JOB_FINISHED',
      message: 'too late',
      jobId: 'x',
      retryable: false,
    })
  })

  test('that nobody waits for are dropped', async () => {
    port.reply(99, true)
    const [call] = enqueues(1)
    await quiet()
    port.reply(1, created)
    port.refuse(1, 'INTERNAL')
    expect(await call).toBe(created)
  })
})

describe('what is under way is bounded', () => {
  test('by count: the rest waits, and leaves in order as answers come', async () => {
    enqueues(LIMITS.commandsInFlight + 5)
    await quiet()
    expect(port.requests).toHaveLength(LIMITS.commandsInFlight)
    port.deliver({ replies: [1, 2, 3].map((number) => ({ id: number, value: created })) })
    await quiet()
    expect(port.posts.at(-1)?.map((request) => request.id)).toEqual([1, 2, 3].map((number) => LIMITS.commandsInFlight + number))
    port.deliver({ replies: [4, 5, 6].map((number) => ({ id: number, value: created })) })
    await quiet()
    expect(port.posts.at(-1)?.map((request) => request.id)).toEqual([4, 5].map((number) => LIMITS.commandsInFlight + number))
  })

  test.for<readonly [what: string, command: Command]>([
    ['data', enqueue('x'.repeat(2 ** 20))],
    ['an output', { op: 'complete', seq: 1, run: 1, output: 'x'.repeat(2 ** 20) }],
    ['what a handler enqueued', { op: 'complete', seq: 1, run: 1, output: null, enqueues: [{ name: 'a', data: 'x'.repeat(2 ** 20) }] }],
    ['a checkpoint', { op: 'checkpoint', seq: 1, run: 1, value: new Uint8Array(2 ** 20) }],
    ['an update', { op: 'update', id, changes: { data: 'x'.repeat(2 ** 20) } }],
    ['a log', { op: 'log', seq: 1, run: 1, lines: [{ at: 1, level: 'info', message: '', fields: 'x'.repeat(2 ** 20) }] }],
    ['an error', { op: 'fail', seq: 1, run: 1, error: { name: 'E', message: '', stack: 'x'.repeat(2 ** 20) } }],
  ])('by bytes: of %s', async ([, command]) => {
    const mebibytes = LIMITS.bytesInFlight / 2 ** 20
    for (let call = 0; call < mebibytes + 10; call++) void mailbox.call(command).catch(() => {})
    await quiet()
    const sent = port.requests.length
    expect(sent).toBeLessThanOrEqual(mebibytes)
    expect(sent).toBeGreaterThanOrEqual(mebibytes - 1)
    port.deliver({ replies: [1, 2].map((number) => ({ id: number, value: true })) })
    await quiet()
    expect(port.requests.map((request) => request.id)).toEqual(Array.from({ length: sent + 2 }, (_, index) => index + 1))
  })

  test('but an attach goes at once: what it says that a worker holds is not so for long', async () => {
    const attach = (uuid: string) => mailbox.call<'attach'>({ op: 'attach', session: { ...SESSION, uuid }, held: [] })
    enqueues(LIMITS.commandsInFlight - 2)
    const first = attach('with room')
    enqueues(5)
    await quiet()
    const beyond = attach('without')
    await quiet()
    expect(port.requests.at(-3)).toMatchObject({ command: { op: 'attach', session: { uuid: 'with room' } } })
    expect(port.posts.at(-1)).toMatchObject([{ command: { op: 'attach', session: { uuid: 'without' } } }])
    const [early, late] = [port.requests.at(-3)?.id as number, port.requests.at(-1)?.id as number]
    port.deliver({ replies: [early, late].map((number) => ({ id: number, value: { lost: [] } })) })
    await Promise.all([first, beyond])
    await quiet()
    // One place is free again: the other attach had none.
    expect(port.posts.at(-1)).toHaveLength(1)
    expect(port.requests).toHaveLength(LIMITS.commandsInFlight + 2)
  })

  test('a call that is larger than all of it goes alone', async () => {
    void mailbox.call<'enqueue'>(enqueue('x'.repeat(LIMITS.bytesInFlight + 1)))
    enqueues(1)
    await quiet()
    expect(port.requests).toHaveLength(1)
    port.reply(1, created)
    await quiet()
    expect(port.requests).toHaveLength(2)
  })

  test('12,000 results that are waited for, and backups, shut nothing out', async () => {
    for (let watch = 0; watch < 12_000; watch++) void mailbox.call<'watch'>({ op: 'watch', id })
    void mailbox.call<'backup'>({ op: 'backup', file: 'copy.db' })
    await quiet()
    const complete = mailbox.call<'complete'>({ op: 'complete', seq: 1, run: 1, output: null })
    await quiet()
    expect(port.requests).toHaveLength(12_002)
    port.reply(12_002, true)
    expect(await complete).toBe(true)
    enqueues(LIMITS.commandsInFlight + 1)
    await quiet()
    expect(port.of('enqueue')).toHaveLength(LIMITS.commandsInFlight)
    // Their answers make no room that was not taken.
    for (let watch = 1; watch <= 100; watch++) port.reply(watch, { state: 'cancelled' })
    await quiet()
    expect(port.of('enqueue')).toHaveLength(LIMITS.commandsInFlight)
  })
})

describe('what waits is bounded', () => {
  test('by count: beyond it new work is refused as busy, and nothing else', async () => {
    const total = LIMITS.commandsInFlight + LIMITS.enqueuesHeld
    const calls = enqueues(total + 2)
    const others = [
      mailbox.call<'complete'>({ op: 'complete', seq: 1, run: 1, output: null }),
      mailbox.call<'fail'>({ op: 'fail', seq: 1, run: 1, error: { name: 'E', message: '' } }),
      mailbox.call<'giveBack'>({ op: 'giveBack', seq: 1, run: 1 }),
      mailbox.call<'heartbeat'>({ op: 'heartbeat', seq: 1, run: 1 }),
      mailbox.call<'renew'>({ op: 'renew', renewal: 1 }),
      mailbox.call<'stats'>({ op: 'stats' }),
    ]
    const told = await outcomes([...calls.slice(-3), ...others])
    expect(told).toEqual(['open', 'BUSY', 'BUSY', ...others.map(() => 'open')])
    await expect(calls.at(-1)).rejects.toMatchObject({ name: 'BusyError', retryable: true, retryAfter: expect.any(Number) })
    // With the first answers there is room again.
    for (let number = 1; number <= LIMITS.commandsInFlight; number++) mailbox.answer({ id: number, value: created })
    mailbox.settle()
    await quiet()
    expect(await outcomes(enqueues(1))).toEqual(['open'])
  })

  test('by bytes', async () => {
    const data = new Uint8Array(2 ** 20)
    // Those that leave at once, by bytes, and as many as may wait.
    const calls = Array.from({ length: (LIMITS.bytesInFlight + LIMITS.bytesHeld) / 2 ** 20 }, () => mailbox.call<'enqueue'>(enqueue(data)))
    const [last, complete] = [calls.at(-1) as Promise<unknown>, mailbox.call<'complete'>({ op: 'complete', seq: 1, run: 1, output: data })]
    expect(await outcomes([last, complete])).toEqual(['BUSY', 'open'])
    // What has left takes no room among what waits.
    for (const id of [1, 2]) mailbox.answer({ id, value: created })
    mailbox.settle()
    await quiet()
    expect(await outcomes([mailbox.call<'enqueue'>(enqueue(data))])).toEqual(['open'])
  })
})

describe('a break', () => {
  test('leaves what was sent unknown, and holds what was not', async () => {
    const sent = enqueues(2)
    await quiet()
    const unsent = mailbox.call<'stats'>({ op: 'stats' })
    port.break()
    const later = mailbox.call<'stats'>({ op: 'stats' })
    expect(await outcomes([...sent, unsent, later])).toEqual(['COMMIT_UNKNOWN', 'COMMIT_UNKNOWN', 'open', 'open'])
    expect(port.posts).toHaveLength(1)
    await expect(sent[0]).rejects.toMatchObject({ name: 'CommitUnknownError', retryable: true })
  })

  test('mended: what is called first goes first, then what was held, in order, in one post', async () => {
    port.break()
    void mailbox.call<'enqueue'>(enqueue())
    void mailbox.call<'complete'>({ op: 'complete', seq: 1, run: 1, output: null })
    mailbox.mend(() => {
      void mailbox.call<'drain'>({ op: 'drain', session: 's' })
      void mailbox.call<'subscribe'>({ op: 'subscribe', on: true })
    })
    void mailbox.call<'stats'>({ op: 'stats' })
    await quiet()
    expect(port.posts.map((requests) => requests.map(({ command }) => command.op))).toEqual([
      ['drain', 'subscribe', 'enqueue', 'complete', 'stats'],
    ])
  })

  test('the window is free again, whatever was under way', async () => {
    const calls = [mailbox.call<'watch'>({ op: 'watch', id }), ...enqueues(LIMITS.commandsInFlight)]
    await quiet()
    port.break()
    port.reopen()
    calls.push(...enqueues(LIMITS.commandsInFlight + 1))
    expect((await outcomes(calls)).filter((outcome) => outcome === 'COMMIT_UNKNOWN')).toHaveLength(LIMITS.commandsInFlight + 1)
    expect(port.requests).toHaveLength(2 * LIMITS.commandsInFlight + 1)
  })

  test('however much is held, it can be mended', async () => {
    port.break()
    for (let call = 0; call < 200_000; call++) void mailbox.call<'complete'>({ op: 'complete', seq: call, run: 1, output: null })
    port.reopen()
    await quiet()
    expect(port.requests).toHaveLength(LIMITS.commandsInFlight)
  })

  test('answers of the time before find nobody', async () => {
    const [call] = enqueues(1)
    await quiet()
    port.break()
    port.reopen()
    port.reply(1, created)
    expect(await outcomes([call as Promise<unknown>])).toEqual(['COMMIT_UNKNOWN'])
  })
})

describe('the end', () => {
  test('rejects all that is open and all that comes', async () => {
    const sent = enqueues(1)
    await quiet()
    const held = enqueues(1)
    mailbox.end({ code: 'COMMIT_UNKNOWN', message: 'not answered' }, { code: 'ENGINE_STOPPED', message: 'stopped' })
    mailbox.end({ code: 'ENGINE_FAILED', message: 'too late' })
    const later = enqueues(1)
    expect(await outcomes([...sent, ...held, ...later])).toEqual(['COMMIT_UNKNOWN', 'ENGINE_STOPPED', 'ENGINE_STOPPED'])
    port.reopen()
    expect(await outcomes(enqueues(1))).toEqual(['ENGINE_STOPPED'])
    expect(port.posts).toHaveLength(1)
  })
})

describe('forget', () => {
  test('of a call under way: its answer finds nobody, its place is free', async () => {
    enqueues(LIMITS.commandsInFlight - 1)
    const { id: number, reply } = mailbox.track<'get'>({ op: 'get', id })
    enqueues(1)
    await quiet()
    expect(port.requests).toHaveLength(LIMITS.commandsInFlight)
    expect(mailbox.forget(number)).toBe(true)
    await quiet()
    expect(port.requests).toHaveLength(LIMITS.commandsInFlight + 1)
    port.reply(number, null)
    expect(await outcomes([reply])).toEqual(['open'])
  })

  test('of a call that waits: it never leaves, and its bytes are not held any more', async () => {
    port.break()
    const data = new Uint8Array(LIMITS.bytesHeld - 1_000)
    const { id: number, reply } = mailbox.track<'enqueue'>(enqueue(data))
    void mailbox.call<'stats'>({ op: 'stats' })
    expect(mailbox.forget(number)).toBe(false)
    expect(await outcomes([mailbox.call<'enqueue'>(enqueue(data))])).toEqual(['open'])
    port.reopen()
    expect(await outcomes([reply])).toEqual(['open'])
    expect(port.requests.map((request) => request.id)).toEqual([2, 3])
  })

  test('of a call that is answered already: nothing', async () => {
    enqueues(1)
    await quiet()
    port.reply(1, created)
    expect(mailbox.forget(1)).toBe(false)
  })

  test('of 50,000 that wait takes no time to speak of', async () => {
    port.break()
    const numbers = Array.from({ length: 50_000 }, () => mailbox.track<'watch'>({ op: 'watch', id }).id)
    const begin = process.cpuUsage()
    for (const number of numbers) mailbox.forget(number)
    expect(process.cpuUsage(begin).user).toBeLessThan(1_000_000)
    expect(port.holds).toEqual([true, false])
  })
})

describe('the process is kept alive while calls are open or workers are attached, and not a moment longer', () => {
  test('calls', async () => {
    const calls = enqueues(2)
    expect(port.holds).toEqual([true])
    await quiet()
    port.reply(1, created)
    expect(port.holds).toEqual([true])
    port.reply(2, created)
    expect(port.holds).toEqual([true, false])
    await Promise.all(calls)
  })

  test('calls that wait for the window', async () => {
    enqueues(LIMITS.commandsInFlight + 1)
    await quiet()
    for (let number = 1; number <= LIMITS.commandsInFlight; number++) port.reply(number, created)
    expect(port.holds).toEqual([true])
    await quiet()
    port.reply(LIMITS.commandsInFlight + 1, created)
    expect(port.holds).toEqual([true, false])
  })

  test('workers, with calls or without', async () => {
    mailbox.countWorkers(1)
    const [call] = enqueues(1)
    await quiet()
    port.reply(1, created)
    await call
    expect(port.holds).toEqual([true])
    mailbox.countWorkers(1)
    mailbox.countWorkers(-1)
    expect(port.holds).toEqual([true])
    mailbox.countWorkers(-1)
    expect(port.holds).toEqual([true, false])
  })

  test('a break that leaves nothing open', async () => {
    const calls = enqueues(2)
    await quiet()
    port.break()
    expect(await outcomes(calls)).toEqual(['COMMIT_UNKNOWN', 'COMMIT_UNKNOWN'])
    expect(port.holds).toEqual([true, false])
    port.reopen()
    await quiet()
    expect(port.holds).toEqual([true, false])
  })

  test('a break that leaves something waiting', async () => {
    enqueues(1)
    port.break()
    expect(port.holds).toEqual([true])
    port.reopen()
    await quiet()
    port.reply(1, created)
    expect(port.holds).toEqual([true, false])
  })

  test('the end', async () => {
    const calls = enqueues(1)
    await quiet()
    calls.push(...enqueues(1))
    port.end()
    await outcomes(calls)
    expect(port.holds).toEqual([true, false])
  })

  test('a result that is given up', async () => {
    const { id: number } = mailbox.track<'watch'>({ op: 'watch', id })
    await quiet()
    mailbox.forget(number)
    expect(port.holds).toEqual([true, false])
  })
})

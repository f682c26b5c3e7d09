/** Who is told of what happens, and when the engine is asked to tell. */
import type { JobEvent, Logger } from '@millrace/core'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Listeners } from './listeners.ts'
import { Mailbox } from './mailbox.ts'
import { FakePort, quiet } from './testing/fakePort.ts'
import type { QueueEvent } from './view.ts'

let port: FakePort
let listeners: Listeners
let logged: string[]

beforeEach(() => {
  port = new FakePort()
  logged = []
  const log = (message: string, fields?: object) => void logged.push(`${message} ${JSON.stringify(fields)}`)
  const logger: Logger = { debug: log, info: log, warn: log, error: log }
  listeners = new Listeners(new Mailbox(port), logger)
})

afterEach(() => {
  vi.restoreAllMocks()
})

let seq = 0

function eventOf(type: JobEvent['type'], change: Partial<JobEvent> = {}): JobEvent {
  return { seq: ++seq, type, jobSeq: 1, node: 1, enqueuedAt: 0, queue: 'q', name: 'a', at: 5, run: 1, attempt: 1, ...change }
}

/** What the engine was asked, in order. */
async function asked(): Promise<boolean[]> {
  await quiet()
  return port.of('subscribe').map(({ command }) => command.on)
}

test('each hears of its own type, and of all, in order, as people write it', () => {
  const completed = vi.fn()
  const all = vi.fn()
  listeners.add('completed', completed, false)
  listeners.add('*', all, false)
  listeners.tell([eventOf('started'), eventOf('completed'), eventOf('progress', { fraction: 0.5 })])
  expect(completed).toHaveBeenCalledTimes(1)
  expect(completed.mock.calls[0]?.[0]).toMatchObject({
    type: 'completed',
    queue: 'q',
    name: 'a',
    at: new Date(5),
    jobId: expect.stringMatching(/^[0-9a-f-]{36}$/),
  })
  expect(all.mock.calls.map(([event]) => event.type)).toEqual(['started', 'completed', 'progress'])
  expect(all.mock.calls[2]?.[0]).toMatchObject({ progress: 0.5 })
})

test('of a queue, a schedule and a worker: each as people write it', () => {
  const all = vi.fn()
  const paused = vi.fn((event: QueueEvent) => event.queue)
  listeners.add('*', all, false)
  listeners.add('queue.paused', paused as never, false)
  listeners.tell([
    { seq: 1, at: 5, type: 'queue.paused', queue: 'q', name: 'a' },
    { seq: 2, at: 5, type: 'schedule.fired', schedule: 's', tick: 4, job: { seq: 1, node: 1, enqueuedAt: 5 } },
    { seq: 3, at: 5, type: 'worker.lost', worker: 'w', session: 'u' },
  ])
  expect(paused.mock.results).toMatchObject([{ value: 'q' }])
  expect(all.mock.calls.map(([event]) => event)).toEqual([
    { seq: 1, at: new Date(5), type: 'queue.paused', queue: 'q', name: 'a' },
    { seq: 2, at: new Date(5), type: 'schedule.fired', schedule: 's', tick: new Date(4), jobId: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    { seq: 3, at: new Date(5), type: 'worker.lost', worker: 'w', session: 'u' },
  ])
})

test('one that was added twice is told twice, and goes at once', () => {
  const listener = vi.fn()
  listeners.add('failed', listener, false)
  listeners.add('failed', listener, false)
  listeners.tell([eventOf('failed')])
  listeners.remove('failed', listener)
  listeners.tell([eventOf('failed')])
  expect(listener).toHaveBeenCalledTimes(2)
})

describe('once', () => {
  test('is once, even of one delivery', () => {
    const listener = vi.fn()
    listeners.add('completed', listener, true)
    listeners.tell([eventOf('completed'), eventOf('completed')])
    listeners.tell([eventOf('completed')])
    expect(listener).toHaveBeenCalledTimes(1)
  })

  test('of several types is once of each, and leaves the same listener of another alone', () => {
    const listener = vi.fn()
    listeners.add('completed', listener, true)
    listeners.add('failed', listener, true)
    listeners.add('started', listener, false)
    for (let round = 0; round < 3; round++) listeners.tell([eventOf('started'), eventOf('completed'), eventOf('failed')])
    expect(listener.mock.calls.map(([event]) => event.type)).toEqual(['started', 'completed', 'failed', 'started', 'started'])
  })

  test('that throws is not told again', () => {
    const listener = vi.fn(() => {
      throw new Error('no')
    })
    listeners.add('*', listener, true)
    listeners.tell([eventOf('completed'), eventOf('completed')])
    expect(listener).toHaveBeenCalledTimes(1)
  })

  test('can be taken back', () => {
    const listener = vi.fn()
    listeners.add('completed', listener, true)
    listeners.remove('completed', listener)
    listeners.tell([eventOf('completed')])
    expect(listener).not.toHaveBeenCalled()
  })
})

describe('one that throws', () => {
  const unreadable = {
    [Symbol.toPrimitive]: () => {
      throw new Error('not to be read')
    },
  }

  test.for<readonly [what: string, listener: () => unknown]>([
    [
      'at once',
      () => {
        throw new Error('no')
      },
    ],
    [
      'later',
      async () => {
        throw new Error('no')
      },
    ],
    [
      'what cannot be read',
      () => {
        throw unreadable
      },
    ],
  ])('%s: the others are told all the same, and the logger hears of it', async ([, listener]) => {
    const other = vi.fn()
    listeners.add('completed', listener as () => void, false)
    listeners.add('completed', other, false)
    listeners.add('*', other, false)
    listeners.tell([eventOf('completed')])
    await quiet()
    expect(other).toHaveBeenCalledTimes(2)
    expect(logged).toHaveLength(1)
    expect(logged[0]).toContain('an event listener has thrown')
  })

  test('without a logger is a warning of the process, not its end', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const quietly = new Listeners(new Mailbox(port), undefined)
    quietly.add(
      'completed',
      () => {
        throw new Error('no')
      },
      false,
    )
    quietly.tell([eventOf('completed')])
    expect(warn).toHaveBeenCalledWith("a listener for 'completed' has thrown: Error: no", 'MillraceWarning')
  })
})

describe('the engine is asked', () => {
  test('with the first that comes, and with the last that goes', async () => {
    const [a, b] = [vi.fn(), vi.fn()]
    listeners.add('completed', a, false)
    listeners.add('*', b, false)
    expect(await asked()).toEqual([true])
    listeners.remove('completed', a)
    listeners.remove('completed', b)
    expect(await asked()).toEqual([true])
    listeners.remove('*', b)
    expect(await asked()).toEqual([true, false])
    listeners.remove('*', b)
    expect(await asked()).toEqual([true, false])
  })

  test('no more once the last that was to be told once has been', async () => {
    listeners.add('completed', () => {}, true)
    listeners.tell([eventOf('started')])
    expect(await asked()).toEqual([true])
    listeners.tell([eventOf('completed')])
    expect(await asked()).toEqual([true, false])
  })

  test('not at all where one comes in place of another while they are told', async () => {
    listeners.add('completed', () => listeners.add('failed', () => {}, false), true)
    listeners.tell([eventOf('completed')])
    expect(await asked()).toEqual([true])
  })

  test('again after a break, while somebody listens', async () => {
    listeners.renew()
    expect(await asked()).toEqual([])
    listeners.add('*', () => {}, false)
    listeners.renew()
    expect(await asked()).toEqual([true, true])
  })
})

test.for<readonly [name: unknown, listener: unknown, message: RegExp]>([
  ['qqqqqqqq', () => {}, /there is no event 'qqqqqqqq': enqueued, started/],
  ['complete', () => {}, /there is no event 'complete'; did you mean 'completed'\? Others: enqueued, started/],
  [Symbol('s'), () => {}, /event must be a string, got a symbol/],
  ['completed', undefined, /a listener must be a function/],
])('%s is refused', async ([name, listener, message]) => {
  for (const once of [true, false]) expect(() => listeners.add(name as never, listener as never, once)).toThrow(message)
  expect(() => listeners.remove(name as never, listener as never)).toThrow(message)
  expect(await asked()).toEqual([])
})

test('a gap is told to those who ask for it, and to nobody else', () => {
  const gap = vi.fn()
  const all = vi.fn()
  listeners.add('*', all, false)
  listeners.add('gap', gap, false)
  listeners.missed({ first: 3, last: 9 })
  expect(gap.mock.calls).toEqual([[{ first: 3, last: 9 }]])
  expect(all).not.toHaveBeenCalled()
})

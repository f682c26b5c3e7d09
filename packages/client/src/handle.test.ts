/** What `result` answers, however the job ends, and however long that takes. */
import { type ErrorCode, type JobFailedError, type Outcome, ResultTimeoutError } from '@millrace/core'
import { systemClock } from '@millrace/worker'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { JobHandle } from './handle.ts'
import { Mailbox } from './mailbox.ts'
import { FakePort, quiet } from './testing/fakePort.ts'

const key = { seq: 7, node: 1, enqueuedAt: Date.UTC(2030, 0, 1), created: true }

let port: FakePort
let mailbox: Mailbox
let handle: JobHandle

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
  port = new FakePort()
  mailbox = new Mailbox(port)
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
  handle = new JobHandle(key, mailbox, systemClock)
})

afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

/** The call settles with that answer to its watch. */
async function settled(outcome: Outcome, result = handle.result()): Promise<unknown> {
  await quiet()
  port.reply(port.of('watch').at(-1)?.id ?? 0, outcome)
  return result.catch((error: unknown) => error)
}

/** A signal that counts who listens to it. */
function countedSignal() {
  const controller = new AbortController()
  const { signal } = controller
  const listeners = new Set<unknown>()
  const { addEventListener, removeEventListener } = signal
  signal.addEventListener = (type: string, listener: never) => {
    listeners.add(listener)
    addEventListener.call(signal, type, listener)
  }
  signal.removeEventListener = (type: string, listener: never) => {
    listeners.delete(listener)
    removeEventListener.call(signal, type, listener)
  }
  return { controller, signal, listeners }
}

test('id and created; the id is a UUIDv7, made once', () => {
  expect(handle.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(handle.id).toBe(handle.id)
  expect(handle.created).toBe(true)
  expect(new JobHandle({ ...key, created: false }, mailbox, systemClock).created).toBe(false)
})

describe('outcomes', () => {
  test.for<readonly [what: string, stored: Outcome & { state: 'completed' }, output: unknown]>([
    ['nothing', { state: 'completed', output: null }, undefined],
    ['null', { state: 'completed', output: 'null' }, null],
    ['a value', { state: 'completed', output: '{"a":[1]}' }, { a: [1] }],
    ['bytes', { state: 'completed', output: Uint8Array.of(1, 2) }, Uint8Array.of(1, 2)],
  ])('completed, with %s', async ([, stored, output]) => {
    expect(await settled(stored)).toEqual(output)
    expect(port.commands).toEqual([{ op: 'watch', id: key }])
  })

  test('failed: JobFailedError, whose cause is the error as the handler threw it', async () => {
    const error = { name: 'PaymentError', message: 'declined', stack: 'PaymentError: declined\n    at pay.ts:1' }
    const thrown = await settled({ state: 'failed', error, attempt: 3 })
    expect(thrown).toMatchObject({ name: 'JobFailedError', code: 'JOB_FAILED', jobId: handle.id, attempt: 3, retryable: false })
    expect((thrown as Error).message).toContain('declined')
    const { cause } = thrown as { cause: Error }
    expect(cause).toBeInstanceOf(Error)
    expect([cause.name, cause.message, cause.stack]).toEqual([error.name, error.message, error.stack])
    expect(String(cause)).toBe('PaymentError: declined')
  })

  test('failed: the code of the error and its causes are those of the errors that it is made of', async () => {
    const cause = [
      { name: 'TypeError', message: 'fetch failed' },
      { name: 'Error', message: '', code: 'ECONNREFUSED' },
    ]
    const thrown = await settled({ state: 'failed', error: { name: 'E', message: 'm', code: '502', cause }, attempt: 1 })
    const { cause: error } = thrown as unknown as JobFailedError
    expect([error.code, error.cause?.message, error.cause?.cause?.code]).toEqual(['502', 'fetch failed', 'ECONNREFUSED'])
    expect([error.cause?.stack, error.cause?.cause?.stack]).toEqual(['TypeError: fetch failed', 'Error'])
    expect(error.cause && 'code' in error.cause).toBe(false)
    expect(error.cause?.cause && 'cause' in error.cause.cause).toBe(false)
  })

  test('failed without a stack', async () => {
    const thrown = await settled({ state: 'failed', error: { name: 'E', message: 'm' }, attempt: 1 })
    expect(thrown).toMatchObject({ cause: { name: 'E', message: 'm' } })
  })

  test('cancelled: JobCancelledError; deleted: JobNotFoundError', async () => {
    expect(await settled({ state: 'cancelled' })).toMatchObject({ name: 'JobCancelledError', code: 'JOB_CANCELLED', jobId: handle.id })
    expect(await settled({ state: 'deleted' })).toMatchObject({ name: 'JobNotFoundError', code: 'JOB_NOT_FOUND', jobId: handle.id })
  })

  test.for<ErrorCode>(['JOB_NOT_FOUND', 'ENGINE_STOPPED', 'ENGINE_FAILED', 'INTERNAL'])('refused with %s: that error', async (code) => {
    const result = handle.result()
    await quiet()
    port.refuse(1, code)
    await expect(result).rejects.toMatchObject({ code })
    expect(port.of('watch')).toHaveLength(1)
  })

  test('an output that somebody has broken is an InternalError, not a SyntaxError', async () => {
    expect(await settled({ state: 'completed', output: '{half' })).toMatchObject({ code: 'INTERNAL', jobId: handle.id })
  })
})

describe('a break', () => {
  test('is asked through: the answer of the engine that is back counts', async () => {
    const result = handle.result()
    for (let restart = 0; restart < 3; restart++) {
      await quiet()
      port.break()
      await quiet()
      port.reopen()
    }
    expect(await settled({ state: 'completed', output: '1' }, result as Promise<never>)).toBe(1)
    expect(port.of('watch')).toHaveLength(4)
  })

  test('of the connection is asked through as well', async () => {
    const result = handle.result()
    await quiet()
    port.refuse(1, 'CONNECTION_LOST')
    await quiet()
    port.reply(2, { state: 'completed', output: '7' })
    expect(await result).toBe(7)
  })

  test('that is the end rejects', async () => {
    const result = handle.result()
    await quiet()
    mailbox.end({ code: 'COMMIT_UNKNOWN', message: 'not answered' }, { code: 'ENGINE_STOPPED', message: 'stopped' })
    await expect(result).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
  })

  test('does not start the timeout anew', async () => {
    const result = handle.result({ timeout: '10s' }).catch((error: unknown) => error)
    await quiet()
    vi.advanceTimersByTime(9_000)
    port.break()
    await quiet()
    port.reopen()
    await quiet()
    vi.advanceTimersByTime(999)
    await quiet()
    expect(port.of('unwatch')).toEqual([])
    vi.advanceTimersByTime(1)
    await askedWhy()
    expect(await result).toBeInstanceOf(ResultTimeoutError)
  })
})

/** The engine does not say why in time. */
async function askedWhy(): Promise<void> {
  await quiet()
  vi.advanceTimersByTime(250)
}

describe('timeout', () => {
  test('rejects ResultTimeoutError, and tells the engine to forget the question; the job goes on', async () => {
    const result = handle.result({ timeout: '1m' }).catch((error: unknown) => error)
    await quiet()
    vi.advanceTimersByTime(60_000)
    await askedWhy()
    expect(await result).toMatchObject({ name: 'ResultTimeoutError', code: 'RESULT_TIMEOUT', retryable: true, jobId: handle.id })
    await quiet()
    expect(port.commands).toEqual([
      { op: 'watch', id: key },
      { op: 'unwatch', request: 1 },
      { op: 'explain', id: key },
    ])
    port.reply(1, { state: 'cancelled' })
    await quiet()
  })

  test('of 0 asks, and does not wait', async () => {
    const result = handle.result({ timeout: 0 }).catch((error: unknown) => error)
    vi.advanceTimersByTime(0)
    expect(await result).toBeInstanceOf(ResultTimeoutError)
    await quiet()
    // The question had not left yet: there is nothing to forget.
    expect(port.commands).toEqual([])
  })

  test('of 30 days is one', async () => {
    const result = handle.result({ timeout: '30d' }).catch((error: unknown) => error)
    await quiet()
    vi.advanceTimersByTime(30 * 86_400_000 - 1)
    await quiet()
    expect(port.of('unwatch')).toEqual([])
    vi.advanceTimersByTime(1)
    await askedWhy()
    expect(await result).toBeInstanceOf(ResultTimeoutError)
  })

  test('that an answer beats leaves no timer behind', async () => {
    const { signal, listeners } = countedSignal()
    expect(await settled({ state: 'completed', output: '1' }, handle.result({ timeout: '1m', signal }) as Promise<never>)).toBe(1)
    expect([vi.getTimerCount(), listeners.size]).toEqual([0, 0])
  })
})

describe('signal', () => {
  test('aborted already: its reason, and nothing is asked', async () => {
    await expect(handle.result({ signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough')
    await quiet()
    expect(port.commands).toEqual([])
  })

  test('aborted later: its reason; the question is forgotten, and nobody listens any more', async () => {
    const { controller, signal, listeners } = countedSignal()
    const result = handle.result({ signal, timeout: '1h' })
    await quiet()
    expect(listeners.size).toBe(1)
    controller.abort(new Error('enough'))
    await expect(result).rejects.toThrow('enough')
    await quiet()
    expect(port.of('unwatch')).toHaveLength(1)
    expect(listeners.size).toBe(0)
  })

  test('aborted after the answer: nothing', async () => {
    const { controller, signal, listeners } = countedSignal()
    expect(await settled({ state: 'completed', output: '1' }, handle.result({ signal }) as Promise<never>)).toBe(1)
    controller.abort()
    await quiet()
    expect([port.of('unwatch').length, listeners.size]).toEqual([0, 0])
  })

  test('aborted in the moment between a break and the next question', async () => {
    const controller = new AbortController()
    const result = handle.result({ signal: controller.signal })
    await quiet()
    port.break()
    controller.abort(new Error('enough'))
    await expect(result).rejects.toThrow('enough')
  })

  test('one signal for many results keeps no listener of those that are answered', async () => {
    const { signal, listeners } = countedSignal()
    const results = Array.from({ length: 100 }, () => handle.result({ signal }))
    await quiet()
    for (const { id } of port.of('watch')) port.reply(id, { state: 'completed', output: null })
    await Promise.all(results)
    expect(listeners.size).toBe(0)
  })
})

test.for<readonly [options: unknown, message: RegExp]>([
  [{ timeout: 'soon' }, /timeout/],
  [{ timeout: -1 }, /timeout/],
  [{ signal: {} }, /signal must be an AbortSignal/],
  [{ wait: 5 }, /wait/],
  [5, /result/],
])('options %j are refused', async ([options, message]) => {
  await expect(handle.result(options as never)).rejects.toThrow(message)
  await quiet()
  expect(port.commands).toEqual([])
})

// The writer thread as its host sees it: it dies, cannot be started, and is closed meanwhile.
import { EventEmitter, once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { type Clock, DEFAULT_RETENTION, type Port } from '@millrace/core'
import { sessionIntro } from '@millrace/testkit/internal'
import { afterEach, expect, test, vi } from 'vitest'
import { temporaryFolder } from '../../../sqlite/src/testing/files.ts'
import { sharedMono } from '../clock.ts'
import { fileStore } from '../file/fileStore.ts'
import { ChannelPort } from '../ports/channel.ts'
import { greetingOf } from '../readers/attachedReaders.ts'
import { Readers } from '../readers/readers.ts'
import { WriterThread } from './thread.ts'

const { workers, alive, system } = vi.hoisted(() => ({
  workers: [] as Worker[],
  alive: [] as (readonly string[])[],
  system: { threads: true },
}))
vi.mock('node:worker_threads', async (original) => {
  const all = await original<typeof import('node:worker_threads')>()
  return {
    ...all,
    Worker: class extends all.Worker {
      constructor(...values: ConstructorParameters<typeof all.Worker>) {
        // As Node does it where the system has no thread left.
        if (!system.threads) throw Object.assign(new Error('Worker initialization failure: EAGAIN'), { code: 'ERR_WORKER_INIT_FAILED' })
        super(...values)
        workers.push(this)
        alive.push(values[1]?.workerData.alive)
      }
    },
  }
})

afterEach(() => {
  workers.length = 0
  alive.length = 0
  system.threads = true
})

/** Stands still; what it is asked to wake is woken by hand, in turn. */
function stoppedClock() {
  const waiting: (() => void)[] = []
  let heard = () => {}
  const clock: Clock = {
    read: () => ({ wall: 1_800_000_000_000, mono: 0 }),
    setTimer: (_ms, wake) => {
      waiting.push(wake)
      heard()
      return () => {}
    },
  }
  const next = async (): Promise<() => void> => {
    while (waiting.length === 0) await new Promise<void>((resolve) => (heard = resolve))
    return waiting.shift() as () => void
  }
  return { clock, next, waiting }
}

function newThread(clock: Clock, readers?: Readers, onServer?: { readonly sharedMono: () => number }) {
  const file = join(temporaryFolder(), 'jobs.db')
  const inFile = fileStore({
    file,
    durability: 'normal',
    waitForOwnerMs: 0,
    cacheKib: 1_024,
    secureDelete: false,
    unsafeFilesystem: 'refuse',
  })
  const store = { ...inFile, onServer: onServer !== undefined }
  const told: string[] = []
  const granted: number[] = []
  const reopenings = new EventEmitter()
  const deliveries = new EventEmitter()
  const settings = { recovery: 'immediate', retention: DEFAULT_RETENTION } as const
  const thread = new WriterThread({ store, settings, clock, readers, ...onServer })
  const ended = new Promise<void>((resolve) => {
    thread.listen({
      deliver: ({ grants, replies }) => {
        granted.push(...grants.map(({ run }) => run))
        deliveries.emit('delivery', replies)
      },
      lapsed: () => {},
      broken: ({ code }) => told.push(code),
      reopened: () => {
        told.push('reopened')
        reopenings.emit('reopened')
      },
      ended: ({ code }) => {
        told.push(code)
        resolve()
      },
    })
  })
  return { thread, told, granted, delivered: () => once(deliveries, 'delivery'), ended, file, reopened: () => once(reopenings, 'reopened') }
}

test('a thread that the system cannot start is an error of the opening', async () => {
  system.threads = false
  const { thread } = newThread(stoppedClock().clock)
  await expect(thread.start()).rejects.toMatchObject({ code: 'ENGINE_FAILED', message: expect.stringContaining('EAGAIN') })
  await thread.close()
})

test('a restart that cannot start a thread is a death like others: the host lives, and the engine fails after four', async () => {
  const { clock, next, waiting } = stoppedClock()
  const { thread, told, ended } = newThread(clock)
  await thread.start()
  system.threads = false
  await workers[0]?.terminate()
  for (let restart = 0; restart < 3; restart++) (await next())()
  await ended
  expect(told).toEqual(['COMMIT_UNKNOWN', 'COMMIT_UNKNOWN', 'COMMIT_UNKNOWN', 'ENGINE_FAILED'])
  expect(waiting).toEqual([])
  await thread.close()
})

test('where the file has gone with its writer no empty queue is put in its place', async () => {
  const { clock, next } = stoppedClock()
  const { thread, told, ended, file } = newThread(clock)
  await thread.start()
  for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true })
  await workers[0]?.terminate()
  ;(await next())()
  await ended
  expect(told).toEqual(['COMMIT_UNKNOWN', 'OWNER_LOST'])
  expect(existsSync(file)).toBe(false)
  await thread.close()
})

test('a thread that dies while the readers end is not waited for', async () => {
  const { clock, waiting } = stoppedClock()
  class DyingMeanwhile extends Readers {
    override async close() {
      await workers[0]?.terminate()
    }
  }
  const { thread, told } = newThread(clock, new DyingMeanwhile({ file: () => new URL('data:,'), options: {} }, 1))
  await thread.start()
  await thread.close()
  expect(told).toEqual([])
  expect(waiting).toEqual([])
})

test('a thread that is being started again is closed, and lets go of the file', async () => {
  const { clock, next, waiting } = stoppedClock()
  const { thread, told } = newThread(clock)
  await thread.start()
  await workers[0]?.terminate()
  const restart = await next()
  restart()
  await thread.close()
  expect(workers).toHaveLength(2)
  // The thread's id is -1 once it is over.
  expect(workers[1]?.threadId).toBe(-1)
  expect(told).toEqual(['COMMIT_UNKNOWN'])
  expect(waiting).toEqual([])
})

/** A port that asks once, and what becomes of that. */
function asking(port: Port): Promise<string> {
  return new Promise((resolve) => {
    port.listen({
      deliver: ({ replies }) => resolve(`answered ${replies[0]?.id}`),
      lapsed: () => {},
      broken: ({ code }) => resolve(code),
      reopened: () => {},
      ended: ({ code }) => resolve(code),
    })
    port.send([{ id: 7, command: { op: 'unwatch', request: 0 } }])
  })
}

/** A port of another thread: the greeting comes first. */
function attached(thread: WriterThread): Port {
  const channel = thread.openChannel()
  expect(greetingOf(channel)).toEqual({ line: undefined })
  return new ChannelPort(channel)
}

test('who comes while the thread is started again is told so at once, and whoever comes then is served', async () => {
  const { clock, next } = stoppedClock()
  const { thread, reopened } = newThread(clock)
  await thread.start()
  for (let death = 1; death <= 2; death++) {
    await workers.at(-1)?.terminate()
    const restart = await next()
    // In the gap: a client of a server, a second one, and another thread.
    expect(await Promise.all([asking(thread.openPort()), asking(thread.openPort())])).toEqual(['ENGINE_STOPPED', 'ENGINE_STOPPED'])
    expect(await asking(attached(thread))).toBe('ENGINE_STOPPED')
    const back = reopened()
    restart()
    await back
    expect(await Promise.all([asking(thread.openPort()), asking(thread.openPort())])).toEqual(['answered 7', 'answered 7'])
    expect(await asking(attached(thread))).toBe('answered 7')
  }
  await thread.close()
})

test('workers that have left are not waited for by the next thread', async () => {
  const { clock, next } = stoppedClock()
  const { thread, reopened } = newThread(clock)
  await thread.start()
  const session = { worker: 'w', host: 'h', pid: 1, local: true, handlers: [], minConcurrency: 1, maxConcurrency: 1, abortGrace: 1_000 }
  for (let round = 0; round < 1_000; round++) {
    thread.send([{ id: 2 * round, command: { op: 'attach', held: [], session: { ...session, uuid: `left ${round}` } } }])
    thread.send([{ id: 2 * round + 1, command: { op: 'leave', session: `left ${round}` } }])
  }
  thread.send([{ id: 9_999, command: { op: 'attach', held: [], session: { ...session, uuid: 'stays' } } }])
  await workers[0]?.terminate()
  const [restart, back] = [await next(), reopened()]
  restart()
  await back
  expect(alive).toEqual([[], ['stays']])
  await thread.close()
})

test('a run that comes after a silence, in which another process may have taken over, goes back, and comes again', async () => {
  let stoodStillMs = 60_000
  const { thread, granted, delivered } = newThread(stoppedClock().clock, undefined, { sharedMono: () => sharedMono() + stoodStillMs })
  await thread.start()
  const session = sessionIntro(['a'], { uuid: 'worker', local: true })
  thread.send([
    { id: 1, command: { op: 'attach', session, held: [] } },
    { id: 2, command: { op: 'enqueue', jobs: [{ name: 'a', data: null }] } },
  ])
  for (let deliveries = 0; deliveries < 3; deliveries++) await delivered()
  expect(granted).toEqual([])
  stoodStillMs = 0
  while (granted.length === 0) await delivered()
  // Every time it was handed out it had another number.
  expect(granted[0]).toBeGreaterThan(1)
  await thread.close()
})

test('so does one for a client of a server, which hears nothing of that', async () => {
  let stoodStillMs = 60_000
  const { thread } = newThread(stoppedClock().clock, undefined, { sharedMono: () => sharedMono() + stoodStillMs })
  await thread.start()
  const port = thread.openPort()
  const granted: number[] = []
  const answered: number[] = []
  const deliveries = new EventEmitter()
  port.listen({
    deliver: ({ grants, replies }) => {
      granted.push(...grants.map(({ run }) => run))
      answered.push(...replies.map(({ id }) => id))
      deliveries.emit('delivery')
    },
    lapsed: () => {},
    broken: () => {},
    reopened: () => {},
    ended: () => {},
  })
  port.send([
    { id: 1, command: { op: 'attach', session: sessionIntro(['a'], { uuid: 'worker' }), held: [] } },
    { id: 2, command: { op: 'enqueue', jobs: [{ name: 'a', data: null }] } },
  ])
  for (let count = 0; count < 3 && granted.length === 0; count++) await once(deliveries, 'delivery')
  expect(granted).toEqual([])
  stoodStillMs = 0
  while (granted.length === 0) await once(deliveries, 'delivery')
  expect(granted[0]).toBeGreaterThan(1)
  expect(answered).toEqual([1, 2])
  await thread.close()
})

// What becomes of a process that shares a file while owners come and go: its own threads are started by the test, one by one.

import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import { JobChecks } from '@millrace/client'
import {
  AlreadyOpenError,
  type Clock,
  NotADatabaseError,
  type Port,
  type PortListener,
  SchemaTooNewError,
  StoreMovedError,
} from '@millrace/core'
import { type ListenOptions, listen, type RemoteServer } from '@millrace/remote'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { quietClock, systemClock } from '../clock.ts'
import { fileOwnership } from '../file/fileOwnership.ts'
import { gone } from '../file/gone.ts'
import type { WriterThread } from '../writer/thread.ts'
import type { Ownership } from './ownership.ts'
import { SharedPort, type SharedPortOptions } from './sharedPort.ts'

let folder: string
let file: string
let note: string
let ownership: Ownership
let url: string
const open: { close(): unknown }[] = []

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-share-'))
  file = join(folder, 'jobs.db')
  // Never opened: an attempt is none.
  writeFileSync(file, '')
  note = join(folder, 'jobs.db-share', 'owner.json')
  ownership = fileOwnership(file)
  url = (await ownership.listenAt()).url
})

afterEach(async () => {
  for (const each of open.splice(0).reverse()) {
    const closed = each.close()
    for (const attempt of Attempt.all) attempt.refuse()
    await closed
  }
  rmSync(folder, { recursive: true })
})

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise<void>((resolve) => setImmediate(resolve))
}

/** A thread that owns the file when the test says so. */
class Attempt {
  static readonly all: Attempt[] = []
  readonly #started = Promise.withResolvers<void>()
  readonly epoch = 7
  readonly schema = 4
  isOpen = true
  closed = false

  constructor() {
    Attempt.all.push(this)
  }

  start(): Promise<void> {
    return this.#started.promise
  }

  own(): void {
    this.#started.resolve()
  }

  refuse(error: Error = new AlreadyOpenError('the file is already open in process 4711 on box', { pid: 4711, host: 'box' })): void {
    this.#started.reject(error)
  }

  listener: PortListener | undefined

  listen(listener: PortListener): void {
    this.listener = listener
  }

  hold(): void {}
  send(): void {}
  declareDead(): void {}
  openChannel() {
    return new MessageChannel().port1
  }

  async close(): Promise<void> {
    this.closed = true
  }
}

/** An owner's server, whose engine answers the greeting and nothing else. */
async function owner(options: ListenOptions = {}): Promise<RemoteServer> {
  const openPort = (): Port => {
    let listener: PortListener | undefined
    return {
      capabilities: new Set(),
      listen: (its) => {
        listener = its
      },
      send: ([first]) => {
        if (first?.id === 0) listener?.deliver({ replies: [{ id: 0, value: true }], grants: [], notices: [], events: [], renewal: 0 })
      },
      hold: () => {},
      close: async () => {},
    }
  }
  const server = await listen({ openPort }, url, options)
  open.push(server)
  return server
}

function openPort(replaced: Partial<SharedPortOptions> = {}): Promise<SharedPort> {
  Attempt.all.length = 0
  const newThread = () => new Attempt() as unknown as WriterThread
  return SharedPort.open({
    ownership,
    gone: () => gone(file),
    newThread,
    checks: new JobChecks(),
    clock: systemClock,
    quietClock,
    random: Math.random,
    logger: undefined,
    patienceMs: 0,
    role: 'any',
    ...replaced,
  })
}

async function attempt(number: number): Promise<Attempt> {
  await until(() => Attempt.all.length > number)
  return Attempt.all[number] as Attempt
}

/** One that is attached to an owner which closes, while it is about to own the file. */
async function succeeding() {
  const former = await owner()
  const opening = openPort()
  ;(await attempt(0)).refuse()
  const port = await opening
  open.push(port)
  const said: string[] = []
  port.listen({
    deliver: () => {},
    lapsed: () => {},
    broken: ({ code }) => void said.push(code),
    reopened: () => void said.push('reopened'),
    ended: ({ code }) => void said.push(`ended ${code}`),
  })
  await former.close()
  return { port, said, own: await attempt(1) }
}

test('a writer that dies before its process is heard: nothing is sent to it until it is back', async () => {
  const { said, own } = await succeeding()
  // The first that is said to it when it owns the file.
  own.hold = () => {
    own.isOpen = false
    own.listener?.broken({ code: 'COMMIT_UNKNOWN', message: 'it died' })
  }
  own.own()
  await until(() => existsSync(note))
  await new Promise<void>((resolve) => setImmediate(resolve))
  expect(said).toEqual(['CONNECTION_LOST', 'COMMIT_UNKNOWN'])
  own.isOpen = true
  own.listener?.reopened()
  expect(said.at(-1)).toBe('reopened')
})

test('an owner that is heard again, and dead when its successor owns the file: what it was asked is of unknown outcome', async () => {
  const { port, said, own } = await succeeding()
  await owner()
  await until(() => said.includes('reopened'))
  port.send([{ id: 1, command: { op: 'stats' } }])
  own.own()
  await until(() => said.length === 4)
  expect(said).toEqual(['CONNECTION_LOST', 'reopened', 'CONNECTION_LOST', 'reopened'])
  expect(port.isOwner).toBe(true)
})

test('an owner whose writer comes back to a file that another process owns by then is attached to that one', async () => {
  const opening = openPort()
  const first = await attempt(0)
  first.own()
  const port = await opening
  open.push(port)
  const said: string[] = []
  const answered: number[] = []
  port.listen({
    deliver: ({ replies }) => void answered.push(...replies.map(({ id }) => id)),
    lapsed: (ms) => void said.push(`lapsed ${ms}`),
    broken: ({ code }) => void said.push(code),
    reopened: () => void said.push('reopened'),
    ended: ({ code }) => void said.push(`ended ${code}`),
  })
  expect(port.isOwner).toBe(true)
  // As the thread says it, once its restarted writer has found the lock taken.
  first.listener?.ended({ code: 'OWNER_LOST', message: 'the file is open in process 4711' })
  const second = await attempt(1)
  await owner()
  second.refuse()
  await until(() => said.includes('reopened'))
  // What ran here may run there: it ends before anything else is heard.
  expect(said).toEqual(['lapsed Infinity', 'COMMIT_UNKNOWN', 'reopened'])
  expect([port.isOwner, first.closed]).toEqual([false, true])
  port.send([{ id: 0, command: { op: 'stats' } }])
  await until(() => answered.length > 0)
  expect(said).toHaveLength(3)
})

test('one that an owner sends away for good does not own the file afterwards', async () => {
  const { port, said, own } = await succeeding()
  await owner({ token: 'only others know this' })
  await until(() => said.length === 2)
  expect(said).toEqual(['CONNECTION_LOST', 'ended AUTH_FAILED'])
  own.own()
  await until(() => own.closed)
  expect(said).toHaveLength(2)
  expect(port.isOwner).toBe(false)
})

test('one that is too old for the file never owns it, and is there for the next that does', async () => {
  const { port, said, own } = await succeeding()
  own.refuse(new SchemaTooNewError('the file was written by a newer version'))
  await owner()
  await until(() => said.length === 2)
  expect(said).toEqual(['CONNECTION_LOST', 'reopened'])
  expect(Attempt.all).toHaveLength(2)
  expect(port.isOwner).toBe(false)
})

test.each([
  new NotADatabaseError('somebody has emptied the table journal'),
  new StoreMovedError('the jobs have moved', { movedTo: 'jobs.db' }),
])('one that finds the store gone ends with the reason, and calls do not wait', async (reason) => {
  const { said, own } = await succeeding()
  own.refuse(reason)
  await until(() => said.length === 2)
  expect(said).toEqual(['CONNECTION_LOST', `ended ${reason.code}`])
})

test('closed while it is about to own the file, it has let go of it when that is done', async () => {
  const { port, own } = await succeeding()
  const closing = port.close()
  let closed = false
  void closing.then(() => {
    closed = true
  })
  await new Promise<void>((resolve) => setImmediate(resolve))
  expect(closed).toBe(false)
  own.own()
  await closing
  expect(own.closed).toBe(true)
})

test('the owner tells who it is, and what it speaks, as long as it is that', async () => {
  writeFileSync(note, '{"pid":1,"host":"dead"}')
  const opening = openPort()
  ;(await attempt(0)).own()
  const port = await opening
  expect(JSON.parse(readFileSync(note, 'utf8'))).toEqual({
    host: expect.any(String),
    boot: expect.any(String),
    pid: process.pid,
    epoch: 7,
    schema: 4,
    library: expect.stringMatching(/^millrace\/\d/),
    protocol: [1, 1],
    url,
  })
  expect(statSync(note).mode & 0o777).toBe(0o600)
  await port.close()
  expect(existsSync(note)).toBe(false)
})

test('a socket that cannot be made is tried for at longer and longer intervals, and told of once', async () => {
  const socket = url.slice('unix:'.length)
  writeFileSync(socket, 'of another program')
  const pauses: number[] = []
  const wakes: (() => void)[] = []
  const slow: Clock = {
    read: systemClock.read,
    setTimer: (ms, wake) => {
      pauses.push(ms)
      wakes.push(wake)
      return () => {}
    },
  }
  const warned: string[] = []
  const logger = { debug() {}, info() {}, error() {}, warn: (text: string) => void warned.push(text) }
  const opening = openPort({ quietClock: slow, logger })
  ;(await attempt(0)).own()
  const port = await opening
  open.push(port)
  for (let tries = 1; tries < 8; tries++) {
    wakes.at(-1)?.()
    await until(() => wakes.length > tries)
  }
  expect(pauses).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000])
  expect(warned).toHaveLength(1)
  rmSync(socket)
  wakes.at(-1)?.()
  await until(() => existsSync(note))
  expect(wakes).toHaveLength(8)
})

test('a writer that comes back while its process closes tells of nobody who owns the file', async () => {
  const opening = openPort()
  const own = await attempt(0)
  own.own()
  const port = await opening
  const closing = port.close()
  own.listener?.reopened()
  await closing
  expect(existsSync(note)).toBe(false)
})

test('an owner that does not answer is named, with what it speaks', async () => {
  const told = { host: 'box', boot: 'b', pid: 4711, epoch: 3, schema: 9, library: 'millrace/9.9.9', protocol: [2, 5], url }
  writeFileSync(note, JSON.stringify(told))
  const opening = openPort()
  ;(await attempt(0)).refuse()
  await expect(opening).rejects.toMatchObject({
    code: 'ALREADY_OPEN',
    retryable: true,
    pid: 4711,
    host: 'box',
    message: expect.stringContaining('process 4711 on box (millrace/9.9.9, protocol 2 to 5, schema 9, epoch 3)'),
  })
})

test('what a dead owner has left says nothing about one that does not share the file', async () => {
  writeFileSync(note, JSON.stringify({ host: 'box', boot: 'b', pid: 1, epoch: 3, library: 'x', protocol: [1, 1], url }))
  const opening = openPort()
  ;(await attempt(0)).refuse()
  await expect(opening).rejects.toMatchObject({ pid: 4711, message: expect.stringContaining('share: true in every process') })
})

/** What a reader of events asks, sees, and does when the engine goes away. */
import { type EventsPage, type JobEvent, LIMITS } from '@millrace/core'
import { beforeEach, expect, test } from 'vitest'
import { Engine } from './engine.ts'
import type { EventStreamItem } from './journalStream.ts'
import { FakePort, quiet } from './testing/fakePort.ts'

const clock = { read: () => ({ wall: 0, mono: 0 }), setTimer: () => () => {} }

let port: FakePort
let engine: Engine

beforeEach(() => {
  port = new FakePort()
  engine = new Engine(port, { maxDataBytes: 1_000, clock, host: 'h', pid: 1, local: true })
})

function event(seq: number): JobEvent {
  return { seq, type: 'enqueued', jobSeq: 1, node: 1, enqueuedAt: 0, queue: 'q', name: 'a', at: 5, run: 0, attempt: 0 }
}

const page = (...seqs: number[]): EventsPage => ({ events: seqs.map(event), next: seqs.at(-1) ?? 0 })

/** The questions, in order. */
async function asked() {
  await quiet()
  return port.of('events')
}

async function answer(value: EventsPage): Promise<void> {
  port.reply((await asked()).at(-1)?.id as number, value)
  await quiet()
}

const said = (item: EventStreamItem | undefined) => (item?.type === 'gap' ? item : item?.seq)

test('asks for a page, tells it event by event, and asks for the next only then', async () => {
  const stream = engine.events({ after: 3, filter: { queue: 'q', types: ['enqueued'] } })
  const first = stream.next()
  expect((await asked()).map(({ command }) => command)).toEqual([{ op: 'events', after: 3, filter: { queue: 'q', types: ['enqueued'] } }])
  await answer(page(4, 6))
  expect(said((await first).value)).toBe(4)
  expect(await asked()).toHaveLength(1)
  expect((await stream.next()).value).toMatchObject({ seq: 6, type: 'enqueued', at: new Date(5), queue: 'q', name: 'a' })
  const third = stream.next()
  expect((await asked()).at(-1)?.command).toMatchObject({ after: 6 })
  await answer({ events: [], next: 900 })
  expect((await asked()).at(-1)?.command).toMatchObject({ after: 900 })
  await answer(page(901))
  expect(said((await third).value)).toBe(901)
})

test('a gap comes before what is behind it', async () => {
  const stream = engine.events({ after: 3 })
  const both = Promise.all([stream.next(), stream.next()])
  await answer({ ...page(50), gap: { after: 3, resumesAt: 50 } })
  expect((await both).map(({ value }) => said(value))).toEqual([{ type: 'gap', after: 3, resumesAt: 50 }, 50])
})

test('from now on: asks at once, and goes on from where the journal ended then, without a gap', async () => {
  const stream = engine.events({ after: 'now', filter: { name: 'a' } })
  expect((await asked()).map(({ command }) => command)).toEqual([{ op: 'events', after: Number.MAX_SAFE_INTEGER, filter: { name: 'a' } }])
  await answer({ events: [], next: 40, gap: { after: Number.MAX_SAFE_INTEGER, resumesAt: 41 } })
  expect(await asked()).toHaveLength(1)
  const first = stream.next()
  expect((await asked()).at(-1)?.command).toMatchObject({ after: 40 })
  await answer(page(41))
  expect(said((await first).value)).toBe(41)
  const second = stream.next()
  await answer({ ...page(90), gap: { after: 41, resumesAt: 90 } })
  expect(said((await second).value)).toEqual({ type: 'gap', after: 41, resumesAt: 90 })
})

test('from now on: an engine that is away is asked again, and an error is for the first that reads', async () => {
  const stream = engine.events({ after: 'now' })
  await asked()
  port.break()
  port.reopen()
  const first = stream.next()
  expect((await asked()).at(-1)?.command).toMatchObject({ after: Number.MAX_SAFE_INTEGER })
  await answer({ events: [], next: 7, gap: { after: Number.MAX_SAFE_INTEGER, resumesAt: 8 } })
  await answer(page(8))
  expect(said((await first).value)).toBe(8)
  const refused = engine.events({ after: 'now' })
  port.refuse((await asked()).at(-1)?.id as number, 'ENGINE_STOPPED')
  await quiet()
  await expect(refused.next()).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
  expect(await refused.next()).toEqual({ done: true, value: undefined })
})

test('from now on: what is left before it was answered, or begun too late, ends', async () => {
  const stream = engine.events({ after: 'now' })
  const { id } = (await asked()).at(-1) as { id: number }
  await stream.return()
  expect(await stream.next()).toEqual({ done: true, value: undefined })
  await quiet()
  expect(port.of('unwatch').map(({ command }) => command)).toEqual([{ op: 'unwatch', request: id }])
  const before = port.requests.length
  const late = engine.events({ after: 'now', signal: AbortSignal.abort(new Error('over')) })
  await expect(late.next()).rejects.toThrow('over')
  expect(port.requests).toHaveLength(before)
})

test('a writer that dies, and a turn that fails, are asked again from the same cursor', async () => {
  const stream = engine.events()
  const first = stream.next()
  await answer(page(1))
  await first
  const second = stream.next()
  await asked()
  port.break()
  port.reopen()
  expect((await asked()).at(-1)?.command).toMatchObject({ after: 1 })
  port.refuse((await asked()).at(-1)?.id as number, 'DISK_FULL')
  await answer(page(2))
  expect(said((await second).value)).toBe(2)
})

test('what fails again and again is told, and ends it', async () => {
  const stream = engine.events()
  const first = stream.next()
  first.catch(() => {})
  for (let round = 0; round < 4; round++) port.refuse((await asked()).at(-1)?.id as number, 'STORAGE')
  await expect(first).rejects.toMatchObject({ code: 'STORAGE' })
  expect(await stream.next()).toEqual({ done: true, value: undefined })
  expect(await asked()).toHaveLength(4)
})

test('256 streams that catch up ask for four whole pages at a time, and take turns', async () => {
  const full = page(...Array.from({ length: LIMITS.eventsPerPage }, (_, index) => index + 1))
  const streams = Array.from({ length: 256 }, () => engine.events())
  const first = streams.map((stream) => stream.next())
  for (const { id } of await asked()) port.reply(id, full)
  await Promise.all(first)
  const before = (await asked()).length
  // Each reads its page to the end, and wants the next.
  const wanted = streams.map((stream) => {
    stream.take(LIMITS.eventsPerPage)
    return stream.next()
  })
  for (let answered = 0; answered < streams.length; answered += 4) {
    const open = (await asked()).slice(before + answered)
    expect(open).toHaveLength(4)
    for (const { id } of open) port.reply(id, { ...full, next: 2 * LIMITS.eventsPerPage })
  }
  expect(await Promise.all(wanted)).toHaveLength(256)
  expect(await asked()).toHaveLength(before + 256)
})

test('break gives nothing up but the rest of the page; return gives up the question that waits', async () => {
  const stream = engine.events()
  const seen: unknown[] = []
  const reading = (async () => {
    for await (const item of stream) {
      seen.push(said(item))
      if (seen.length === 1) break
    }
  })()
  await answer(page(1, 2))
  await reading
  expect(seen).toEqual([1])
  expect(port.of('unwatch')).toEqual([])
  const other = engine.events()
  const waits = other.next()
  const { id } = (await asked()).at(-1) as { id: number }
  await other.return()
  expect(await waits).toEqual({ done: true, value: undefined })
  await quiet()
  expect(port.of('unwatch').map(({ command }) => command.request)).toEqual([id])
  port.reply(id, page(9))
})

test('a signal ends it with its reason, before, while and after it waits', async () => {
  const before = new AbortController()
  before.abort(new Error('no need'))
  await expect(engine.events({ signal: before.signal }).next()).rejects.toThrow('no need')
  expect(await asked()).toEqual([])
  const abort = new AbortController()
  const stream = engine.events({ signal: abort.signal })
  const waits = stream.next()
  waits.catch(() => {})
  await asked()
  abort.abort(new Error('enough'))
  await expect(waits).rejects.toThrow('enough')
  expect(await stream.next()).toEqual({ done: true, value: undefined })
  await quiet()
  expect(port.of('unwatch')).toHaveLength(1)
})

test('an engine that is stopped does not wait for it, and ends it', async () => {
  port.answer('unwatch', () => true)
  const waits = engine.events().next()
  waits.catch(() => {})
  await asked()
  await engine.stop()
  await expect(waits).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
  expect(() => engine.events()).toThrow(expect.objectContaining({ code: 'ENGINE_STOPPED' }))
})

test('while it waits it keeps the process alive, and not when it is over', async () => {
  const stream = engine.events()
  void stream.next()
  await asked()
  expect(port.holds.at(-1)).toBe(true)
  await stream[Symbol.asyncDispose]()
  await quiet()
  port.reply(port.of('unwatch')[0]?.id as number, true)
  expect(port.holds.at(-1)).toBe(false)
})

test.each([
  [{ after: -1 }, 'after', RangeError],
  [{ after: 1.5 }, 'after', TypeError],
  [{ from: 1 }, 'from', TypeError],
  [{ filter: { type: 'failed' } }, 'type', TypeError],
  [{ filter: { types: [] } }, 'filter.types', RangeError],
  [{ filter: { types: ['finished'] } }, 'filter.types', TypeError],
  [{ filter: { types: 'failed' } }, 'filter.types', TypeError],
  [{ filter: { jobId: 'x' } }, 'filter.jobId', TypeError],
  [{ filter: { queue: 'a b' } }, 'filter.queue', TypeError],
  [{ signal: 1 }, 'signal', TypeError],
])('%j is refused by the name of the option', (options, option, kind) => {
  expect(() => engine.events(options as never)).toThrow(kind)
  expect(() => engine.events(options as never)).toThrow(expect.objectContaining({ option }))
})

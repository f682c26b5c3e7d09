// `events()` against the whole engine: whatever breaks in between, a cursor sees each event once and in order, or is told of a gap.
import type { MessagePort } from 'node:worker_threads'
import { DEFAULT_RETENTION } from '@millrace/core'
import { attach, defineJob, type Engine, type EventStreamItem, openEngine } from '@millrace/engine'
import { createTestEngine } from '@millrace/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { startFaulty } from '../failures/faulty.ts'
import { watchWriters } from '../proof/crash/writers.ts'
import { temporaryFile } from '../temporary.ts'

const a = defineJob({ name: 'a' })

async function open(file = temporaryFile()): Promise<Engine> {
  const engine = await openEngine({ file, durability: 'normal' })
  onTestFinished(() => engine.stop({ timeout: 0 }))
  return engine
}

/** The next so many, as type and number. */
async function take(stream: AsyncIterator<EventStreamItem>, count: number) {
  const items: EventStreamItem[] = []
  while (items.length < count) {
    const { value, done } = await stream.next()
    if (done === true) break
    items.push(value)
  }
  return items
}

const seqs = (items: readonly EventStreamItem[]) => items.map((item) => (item.type === 'gap' ? 'gap' : item.seq))
const from = (first: number, count: number) => Array.from({ length: count }, (_, index) => first + index)

test('the whole life of jobs, in one order, from the first on; the next opening goes on behind the cursor', async () => {
  const file = temporaryFile()
  const engine = await open(file)
  engine.work([a.handler(() => 1)])
  const handle = await engine.enqueue(a)
  await handle.result()
  const items = await take(engine.events(), 4)
  expect(items).toMatchObject([
    { seq: 1, type: 'worker.attached' },
    { seq: 2, type: 'enqueued', jobId: handle.id, queue: 'default', name: 'a' },
    { seq: 3, type: 'started', run: 1 },
    { seq: 4, type: 'completed', attempt: 1 },
  ])
  await engine.stop()
  const next = await open(file)
  const stream = next.events({ after: 3 })
  await next.enqueue('b')
  expect(await take(stream, 4)).toMatchObject([
    { seq: 4, type: 'completed' },
    { seq: 5, type: 'worker.draining' },
    { seq: 6, type: 'worker.left' },
    { seq: 7, type: 'enqueued', name: 'b' },
  ])
})

test('a reader that begins while others write misses nothing at the end of the journal, and sees nothing twice', async () => {
  const engine = await open()
  const writing = (async () => {
    for (let round = 0; round < 40; round++) await engine.enqueueMany(Array.from({ length: 50 }, () => ({ job: 'a' })))
  })()
  const streams = [engine.events(), engine.events({ filter: { types: ['enqueued'] } }), engine.events({ filter: { name: 'a' } })]
  const read = await Promise.all(streams.map((stream) => take(stream, 2_000)))
  await writing
  for (const items of read) expect(seqs(items)).toEqual(from(1, 2_000))
})

test('a reader that is slow has the journal for a buffer: one page is on its way, and no more', async () => {
  const engine = await open()
  const stream = engine.events()
  await engine.enqueueMany(Array.from({ length: 4_000 }, () => ({ job: 'a' })))
  expect(seqs(await take(stream, 1))).toEqual([1])
  await engine.enqueueMany(Array.from({ length: 4_000 }, () => ({ job: 'a' })))
  expect(seqs(await take(stream, 7_999))).toEqual(from(2, 7_999))
})

test('filters are applied by the engine: by type, queue, name and job', async () => {
  const engine = await open()
  const other = await engine.enqueue('b', null, { queue: 'media' })
  const job = await engine.enqueue(a)
  await engine.cancel(job.id)
  const first = async (filter: object) => (await take(engine.events({ filter }), 1))[0]
  expect(await first({ types: ['cancelled', 'failed'] })).toMatchObject({ type: 'cancelled', jobId: job.id })
  expect(await first({ queue: 'media' })).toMatchObject({ jobId: other.id })
  expect(await first({ name: 'a' })).toMatchObject({ jobId: job.id })
  expect(await first({ jobId: job.id, types: ['cancelled'] })).toMatchObject({ seq: 3 })
  const abort = new AbortController()
  const nothing = take(engine.events({ filter: { jobId: other.id, types: ['cancelled'] }, signal: abort.signal }), 1)
  nothing.catch(() => {})
  await engine.cancel(job.id).catch(() => {})
  abort.abort(new Error('no more'))
  await expect(nothing).rejects.toThrow('no more')
})

test('the writer thread dies again and again, and the same iteration goes on', async () => {
  const writers = watchWriters()
  const engine = await open()
  const stream = engine.events()
  const seen: EventStreamItem[] = []
  for (let round = 1; round <= 3; round++) {
    const waits = take(stream, 2)
    await engine.enqueue('a')
    if (round < 3) await writers.kill()
    await engine.enqueue('a')
    seen.push(...(await waits))
  }
  expect(writers.count).toBe(3)
  expect(seqs(seen)).toEqual(from(1, 6))
})

test.each([true, false])('a commit of unknown outcome (committed: %s) is told if it happened, once', async (committed) => {
  const { engine, faults } = startFaulty()
  await engine.enqueue('a')
  const stream = engine.events()
  expect(seqs(await take(stream, 1))).toEqual([1])
  const waits = take(stream, committed ? 3 : 2)
  await engine.stats()
  faults.fail({ kind: 'commit', committed })
  await expect(engine.enqueue('doubtful')).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' })
  await engine.enqueue('b')
  await engine.enqueue('c')
  const names = (await waits).map((item) => 'run' in item && item.name)
  expect(names).toEqual(committed ? ['doubtful', 'b', 'c'] : ['b', 'c'])
})

test('a page that cannot be read is asked for again, and the engine goes on', async () => {
  const { engine, faults } = startFaulty()
  await engine.enqueue('a')
  faults.failRead('events', 2)
  expect(seqs(await take(engine.events(), 1))).toEqual([1])
})

test('where retention has passed the cursor, the gap comes first and says where it goes on', async () => {
  const journal = { ageMs: 60_000, bytes: 2 ** 30 }
  await using t = createTestEngine({ settings: { retention: { ...DEFAULT_RETENTION, journal } } })
  const { engine } = t
  await engine.enqueue('old')
  await engine.enqueue('old')
  const slow = engine.events()
  expect(seqs(await take(slow, 1))).toEqual([1])
  const waiting = engine.events({ after: 2 })
  const waits = take(waiting, 1)
  await t.advance('5m')
  await engine.enqueue('new')
  await t.advance('61s')
  await engine.enqueue('new')
  expect(seqs(await waits)).toEqual([3])
  // It has the rest of its page; one that comes with that cursor has it no more.
  expect(seqs(await take(slow, 1))).toEqual([2])
  expect(await take(engine.events({ after: 1 }), 2)).toMatchObject([{ type: 'gap', after: 1, resumesAt: 3 }, { seq: 3 }])
  expect(seqs(await take(engine.events({ after: 0 }), 1))).toEqual([3])
  expect(await take(engine.events({ after: 99 }), 1)).toEqual([{ type: 'gap', after: 99, resumesAt: 5 }])
})

test('from now on: nothing of before, and all that comes once the engine knows of it, read or not', async () => {
  const engine = await open()
  await engine.enqueue('old')
  const stream = engine.events({ after: 'now' })
  // Answered after the reader's own request.
  const { seq } = await engine.stats()
  expect(seq).toBe(1)
  await engine.enqueue('new')
  await engine.enqueue('new')
  expect(seqs(await take(stream, 2))).toEqual([2, 3])
  expect(seqs(await take(engine.events({ after: seq }), 2))).toEqual([2, 3])
  expect((await engine.stats()).seq).toBe(3)
  const misuse = { after: 'then' } as never
  expect(() => engine.events(misuse)).toThrow('after must be the seq of an event, or \'now\', got "then"')
})

test('from now on: a job of the same tick is not missed', async () => {
  const engine = await open()
  await engine.enqueue('old')
  const stream = engine.events({ after: 'now' })
  const created = engine.enqueue('new')
  expect(seqs(await take(stream, 1))).toEqual([2])
  await created
})

test('another thread follows by its own port', async () => {
  const engine = await open()
  const other = attach(engine.port() as MessagePort)
  const waits = take(other.events({ filter: { name: 'b' } }), 1)
  await engine.enqueue(a)
  await engine.enqueue('b')
  expect(await waits).toMatchObject([{ seq: 2, name: 'b' }])
  await other.stop()
})

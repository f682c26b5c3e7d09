import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEFAULT_RETENTION, formatId } from '@millrace/core'
import { attach, CommitUnknownError, openEngine } from '@millrace/engine'
import { fileStore, systemClock, WriterThread } from '@millrace/engine/internal'
import { portConformance } from '@millrace/testkit/conformance'
import { PORT_AREAS, Probe } from '@millrace/testkit/internal'
import { expect, onTestFinished, test } from 'vitest'
import { sampled } from '../../packages/testkit/src/testing/runs.ts'
import { watchWriters } from '../proof/crash/writers.ts'
import { temporaryFile } from '../temporary.ts'

type Readers = NonNullable<ConstructorParameters<typeof WriterThread>[0]['readers']>

async function start(readers?: Readers) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-port-'))
  const store = fileStore({
    file: join(folder, 'jobs.db'),
    durability: 'full',
    waitForOwnerMs: 0,
    cacheKib: 16_384,
    secureDelete: false,
    unsafeFilesystem: 'refuse',
  })
  const settings = { recovery: 'immediate', retention: DEFAULT_RETENTION } as const
  const thread = new WriterThread({ store, settings, clock: systemClock, readers })
  await thread.start()
  const close = async () => {
    await thread.close()
    rmSync(folder, { recursive: true })
  }
  return { thread, close }
}

portConformance('writer thread', async () => {
  const { thread, close } = await start()
  return { port: thread, close }
})

/** How several ports share a channel is no different from area to area. */
portConformance(
  'a further port of the writer thread, one of several over one channel',
  async () => {
    const { thread, close } = await start()
    const other = thread.openPort()
    other.send([{ id: 1, command: { op: 'stats' } }])
    return { port: thread.openPort(), close }
  },
  { inFile: true },
  sampled(PORT_AREAS),
)

test('pages of jobs are not the writer’s to read, but for what it alone knows: which jobs run', async () => {
  const asked: string[] = []
  const readers = {
    page: async ({ op }: { readonly op: string }) => {
      asked.push(op)
      return null
    },
    close: async () => {},
  } as unknown as Readers
  const { thread, close } = await start(readers)
  onTestFinished(close)
  const probe = new Probe(thread)
  const { created: _created, ...id } = await probe.enqueue('a')
  expect(await probe.call<'getFlow'>({ op: 'getFlow', id, limit: 1 })).toBeNull()
  await probe.call<'list'>({ op: 'list', filter: {}, limit: 1 })
  expect(await probe.call<'list'>({ op: 'list', filter: { state: 2 }, limit: 1 })).toEqual({ jobs: [], next: null })
  expect(await probe.call<'get'>({ op: 'get', id })).toMatchObject({ name: 'a' })
  expect(asked).toEqual(['getFlow', 'list'])
  const attached = attach(thread.openChannel())
  onTestFinished(() => attached.stop())
  expect(await attached.flows.get(formatId(id))).toBeUndefined()
  expect((await attached.list({ state: 'active' })).jobs).toEqual([])
  expect(await attached.get(formatId(id))).toMatchObject({ name: 'a' })
  expect(asked).toEqual(['getFlow', 'list', 'getFlow'])
})

test('a page that another thread waits for when the engine ends is answered by that end, as every call is', async () => {
  const asked = Promise.withResolvers<void>()
  const reading = Promise.withResolvers<never>()
  const readers = {
    closed: false,
    page: () => {
      asked.resolve()
      return reading.promise
    },
    close: async () => {
      readers.closed = true
      reading.reject(new Error('the thread has ended'))
    },
  }
  const { thread, close } = await start(readers as unknown as Readers)
  const attached = attach(thread.openChannel())
  const [listed] = await Promise.all([attached.list().catch((error) => error), asked.promise.then(close)])
  expect(listed).toBeInstanceOf(CommitUnknownError)
  expect(listed.message).toMatch(/has stopped/)
  await attached.stop()
})

test('what is attached ends with the writer, though that is started again, and says how to go on: by a new port', async () => {
  const writers = watchWriters()
  await using engine = await openEngine({ file: temporaryFile() })
  const { id } = await engine.enqueue('a')
  const attached = attach(engine.port())
  onTestFinished(() => attached.stop())
  const waiting = attached.handle(id).result()
  const stopped = { code: 'ENGINE_STOPPED', message: expect.stringMatching(/was started again, .* attach a new port\(\)/) }
  const ended = expect(waiting).rejects.toMatchObject(stopped)
  await attached.stats()
  await writers.kill()
  await ended
  await expect(attached.stats()).rejects.toMatchObject(stopped)
  // The call that was made before the death was known is of unknown outcome; the next one waits for the writer.
  await engine.stats().catch(() => engine.stats())
  const again = attach(engine.port())
  onTestFinished(() => again.stop())
  expect((await again.stats()).states.waiting).toBe(1)
  expect(writers.count).toBe(2)
})

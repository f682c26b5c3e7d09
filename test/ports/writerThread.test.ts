import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEFAULT_RETENTION } from '@millrace/core'
import { systemClock, WriterThread } from '@millrace/engine'
import { Probe } from '@millrace/testkit'
import { portConformance } from '@millrace/testkit/conformance'
import { expect, onTestFinished, test } from 'vitest'

type Readers = NonNullable<ConstructorParameters<typeof WriterThread>[2]>

async function start(readers?: Readers) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-port-'))
  const options = {
    durability: 'full',
    recovery: 'immediate',
    waitForOwnerMs: 0,
    cacheKib: 16_384,
    secureDelete: false,
    retention: DEFAULT_RETENTION,
    unsafeFilesystem: 'refuse',
  } as const
  const thread = new WriterThread({ ...options, file: join(folder, 'jobs.db') }, systemClock, readers)
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

portConformance('a further port of the writer thread, one of several over one channel', async () => {
  const { thread, close } = await start()
  const other = thread.openPort()
  other.send([{ id: 1, command: { op: 'stats' } }])
  return { port: thread.openPort(), close }
})

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
})

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEFAULT_RETENTION } from '@millrace/core'
import { systemClock, WriterThread } from '@millrace/engine'
import { portConformance } from '@millrace/testkit/conformance'

async function start() {
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
  const thread = new WriterThread({ ...options, file: join(folder, 'jobs.db') }, systemClock, undefined)
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

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEFAULT_RETENTION } from '@millrace/core'
import { systemClock, WriterThread } from '@millrace/engine'
import { portConformance } from '@millrace/testkit'

portConformance('writer thread', async () => {
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
  const port = new WriterThread({ ...options, file: join(folder, 'jobs.db') }, systemClock, undefined)
  await port.start()
  return {
    port,
    async close() {
      await port.close()
      rmSync(folder, { recursive: true })
    },
  }
})

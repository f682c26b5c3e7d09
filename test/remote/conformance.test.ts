/** What every Port promises, over a socket. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemCalendar } from '@millrace/client/calendar'
import { DEFAULT_RETENTION } from '@millrace/core'
import { openEngine } from '@millrace/engine'
import { InThreadEngine } from '@millrace/engine/internal'
import { listen } from '@millrace/remote'
import { connectPort } from '@millrace/remote/internal'
import { openStore } from '@millrace/sqlite'
import { VirtualClock } from '@millrace/testkit'
import { portConformance } from '@millrace/testkit/conformance'
import { PORT_AREAS, seededRandom } from '@millrace/testkit/internal'
import { sampled } from '../../packages/testkit/src/testing/runs.ts'

portConformance('a Unix socket, an engine of this thread behind it', async () => {
  const clock = new VirtualClock()
  const random = seededRandom(1)
  const store = openStore({ file: ':memory:', durability: 'full', random, now: clock.read().wall, host: 'host', pid: 1 })
  const engine = new InThreadEngine({
    store,
    clock,
    random,
    settings: { recovery: 'immediate', retention: DEFAULT_RETENTION, calendar: systemCalendar },
  })
  const folder = mkdtempSync(join(tmpdir(), 'millrace-test-'))
  const server = await listen({ openPort: () => engine.port() }, `unix:${folder}/sock`, {}, { clock, random })
  const port = await connectPort(server.url, {}, { clock, random })
  return {
    port,
    close: async () => {
      await port.close()
      await server.close()
      engine.close()
      rmSync(folder, { recursive: true })
    },
  }
})

/** Frames are the same over TCP, which the suite above has seen whole. */
portConformance(
  'TCP, a writer thread behind it',
  async () => {
    const engine = await openEngine({ file: ':memory:' })
    const server = await listen(engine, 'tcp://127.0.0.1:0')
    const port = await connectPort(server.url)
    return {
      port,
      close: async () => {
        await port.close()
        await server.close()
        await engine.stop()
      },
    }
  },
  { inFile: true },
  sampled(PORT_AREAS),
)

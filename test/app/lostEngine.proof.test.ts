/** An engine that has failed is no daemon: the process ends, and whoever watches over it starts another one. */
import { unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { attached, startDaemon } from './daemon.ts'

test.each(['true', 'false'])('its file was deleted, share %s: exit code 1, and the log says why', async (share) => {
  const folder = temporaryFolder()
  const daemon = startDaemon(folder, { flags: { share } })
  const engine = await attached(daemon, folder)
  await engine.enqueue('anything')
  unlinkSync(join(folder, 'millrace.db'))
  const lost = engine.enqueue('anything').catch((error) => error)
  const { code, stderr } = await daemon.ended
  expect({ code, stderr, said: daemon.lines.join('\n') }).toMatchObject({
    code: 1,
    // By the write that failed or, if it comes first, by the daemon's own look at the file.
    said: expect.stringMatching(/"error":"[^"]*millrace\.db was [^"]*","msg":"the engine failed: the daemon stops"/),
  })
  await engine.stop({ timeout: 0 })
  await lost
})

// The socket beside the file, which another daemon may have.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openInThread } from '../../../../packages/testkit/src/testing/inThread.ts'
import { SCHEMA } from '../config/schema/schema.ts'
import { every } from './clock.ts'
import { startSockets } from './sockets.ts'

vi.mock('./clock.ts', { spy: true })

test('a second daemon on a file goes on without it, says so, and has it once the first has ended; an address of its own is refused', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-sockets-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'jobs.db')
  const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() }
  const start = async (urls?: readonly string[]) => {
    const engine = openInThread()
    onTestFinished(() => engine.stop())
    const limits = SCHEMA.parse({}).sockets
    const sockets = await startSockets({
      engine,
      file,
      urls,
      tls: undefined,
      limits,
      authenticate: () => undefined,
      audit: () => {},
      assertAuditable: () => {},
      logger,
    })
    onTestFinished(() => sockets.close())
    return sockets
  }
  const looks: (() => unknown)[] = []
  const stop = vi.fn()
  vi.mocked(every).mockImplementation((_, work) => {
    looks.push(work)
    return stop
  })
  const first = await start()
  expect(first.servers.map(({ url }) => url)).toEqual([`unix:${file}-socket`])
  const second = await start()
  expect(second.servers).toEqual([])
  expect(logger.warn).toHaveBeenCalledExactlyOnceWith(
    expect.stringMatching(/another server listens at .*jobs\.db-socket.*`listen` names one$/),
  )
  await expect(start([`unix:${file}-socket`])).rejects.toMatchObject({ code: 'ADDRESS_IN_USE' })
  await looks[0]?.()
  expect([second.servers, stop.mock.calls]).toEqual([[], []])
  await first.close()
  await looks[0]?.()
  expect(second.servers.map(({ url }) => url)).toEqual([`unix:${file}-socket`])
  expect(logger.info).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('which another daemon had'))
  expect(stop).toHaveBeenCalledOnce()
})

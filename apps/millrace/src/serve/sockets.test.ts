import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openInThread } from '../../../../packages/testkit/src/testing/inThread.ts'
import { type SocketParts, startSockets } from './sockets.ts'

test('a second daemon on a file says how it can wait for the first', async ({ skip }) => {
  if (process.platform === 'win32') skip('there is no default socket on Windows')
  const folder = mkdtempSync(join(tmpdir(), 'millrace-test-'))
  const engine = openInThread()
  onTestFinished(async () => {
    await engine.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const logger = { debug() {}, info() {}, warn() {}, error() {} }
  const parts = { engine, file: join(folder, 'jobs.db'), limits: {}, authenticate: async () => undefined, audit: async () => {}, logger }
  const start = (more: object = {}) => startSockets({ ...parts, ...more } as unknown as SocketParts)
  const [first] = await start()
  await expect(start()).rejects.toMatchObject({
    code: 'ADDRESS_IN_USE',
    message: expect.stringMatching(/another daemon serves .*jobs\.db, .*stop it first\. .*--listen unix:.* --http-port/),
  })
  const [second] = await start({ urls: [`unix:${join(folder, 'other')}`] })
  await Promise.all([first?.close(), second?.close()])
})

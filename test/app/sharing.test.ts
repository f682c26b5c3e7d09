/** A daemon and other processes of its user on one file: whoever comes first has it, and the others attach. */
import { join } from 'node:path'
import { defineJob, openEngine } from '@millrace/engine'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { attached, HANDLERS, startDaemon } from './daemon.ts'

test('a process that opens the daemon’s file attaches to it, without a token', async () => {
  const folder = temporaryFolder()
  const daemon = startDaemon(folder, { flags: { 'http-dashboard-enabled': 'false', 'worker-handlers': HANDLERS } })
  await daemon.serving
  const engine = await openEngine({ file: join(folder, 'millrace.db'), share: true })
  onTestFinished(() => engine.stop({ timeout: 0 }))
  expect(await (await engine.enqueue('quick', 7)).result()).toBe(7)
})

test('a daemon on a file that another process has serves it, and takes it over when that one is gone', async () => {
  const folder = temporaryFolder()
  const before = await openEngine({ file: join(folder, 'millrace.db'), share: true })
  onTestFinished(() => before.stop({ timeout: 0 }))
  const local = defineJob({ name: 'local' })
  const worker = before.work([local.handler(() => 'here')])
  const first = await before.enqueue(local)
  expect(await first.result()).toBe('here')
  const daemon = startDaemon(folder, { flags: { 'http-dashboard-enabled': 'false', 'worker-handlers': HANDLERS } })
  const { url } = await daemon.serving
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
  expect(await (await before.enqueue('quick', 8)).result()).toBe(8)
  await worker.stop()
  await before.stop()
  // Its own socket is served from then on.
  const engine = await attached(daemon, folder)
  expect(await (await engine.enqueue('quick', 9)).result()).toBe(9)
  expect((await engine.get(first.id))?.output).toBe('here')
  await engine.stop()
  daemon.child.kill('SIGTERM')
  expect(await daemon.ended).toMatchObject({ code: 0 })
})

// Leases beside long reads of the same process.
import { join } from 'node:path'
import { defineJob, openEngine } from '@millrace/engine'
import { connect, listen } from '@millrace/remote'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'

test('what a process reads does not end the runs of its workers', async () => {
  const root = temporaryFolder()
  const url = `unix:${join(root, 's')}`
  const owner = await openEngine({ file: join(root, 'jobs.db'), durability: 'normal' })
  const server = await listen(owner, url)
  const engine = await connect(url)
  const done = Promise.withResolvers<void>()
  onTestFinished(async () => {
    done.resolve()
    await engine.stop({ timeout: 0 })
    await server.close()
    await owner.stop()
  })
  for (let chunk = 0; chunk < 6; chunk++)
    await owner.enqueueMany(Array.from({ length: 10_000 }, (_, n) => ({ job: 'other', data: `text ${n} `.repeat(20) })))
  const started = Promise.withResolvers<AbortSignal>()
  engine.work(
    defineJob({ name: 'long', heartbeatTimeout: '1s', timeout: '1h' }).handler(async ({ signal }) => {
      started.resolve(signal)
      await done.promise
    }),
  )
  await engine.enqueue('long', 1, { heartbeatTimeout: '1s' })
  const signal = await started.promise
  // A page of a search that finds nothing is a quarter of a second at most.
  await Promise.all(Array.from({ length: 16 }, () => engine.list({ search: 'nowhere to be found' })))
  expect(signal.aborted).toBe(false)
})

/** kill -9 of the daemon, and its next start: what was acknowledged is there, and runs to its end. */
import { ConnectionLostError } from '@millrace/remote'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { attached, HANDLERS, startDaemon, tokenIn } from './daemon.ts'

test('killed under load three times: nothing that was acknowledged is lost, and everything completes once', async () => {
  const folder = temporaryFolder()
  const start = () => startDaemon(folder, { flags: { 'worker-handlers': HANDLERS } })
  let daemon = start()
  const engine = await attached(daemon, folder)
  const token = tokenIn(folder)
  const JOBS = 1_500
  const acknowledged = new Map<number, string>()
  let { promise: reached, resolve: reach } = Promise.withResolvers<void>()
  let next = 0
  let goal = 200
  const produce = async () => {
    for (let number = next++; number < JOBS; number = next++) {
      for (;;) {
        try {
          acknowledged.set(number, (await engine.enqueue('quick', number, { idempotencyKey: `key ${number}` })).id)
          break
        } catch (error) {
          if (!(error instanceof ConnectionLostError)) throw error
        }
      }
      if (acknowledged.size >= goal) reach()
    }
  }
  const producing = Promise.all(Array.from({ length: 20 }, produce))
  for (const count of [200, 600, 1_000]) {
    goal = count
    ;({ promise: reached, resolve: reach } = Promise.withResolvers<void>())
    if (acknowledged.size >= goal) reach()
    await reached
    await daemon.kill()
    daemon = start()
    await daemon.serving
    expect(tokenIn(folder)).toBe(token)
  }
  await producing
  const { promise: done, resolve } = Promise.withResolvers<void>()
  const look = async () => {
    if ((await engine.stats()).states.completed === JOBS) resolve()
  }
  engine.on('completed', () => void look().catch(() => {}))
  await look()
  await done
  expect((await engine.stats()).states).toMatchObject({ completed: JOBS, waiting: 0, active: 0, failed: 0 })
  expect(new Set(acknowledged.values()).size).toBe(JOBS)
  for (const [number, id] of [...acknowledged].filter((_, index) => index % 100 === 0)) expect((await engine.get(id))?.output).toBe(number)
})

// A writer that has died is started again, and its file is gone.
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { expect, test, vi } from 'vitest'
import { temporaryFolder } from '../../../sqlite/src/testing/files.ts'

const { workers } = vi.hoisted(() => ({ workers: [] as Worker[] }))
vi.mock('node:worker_threads', async (original) => {
  const all = await original<typeof import('node:worker_threads')>()
  return {
    ...all,
    Worker: class extends all.Worker {
      constructor(...values: ConstructorParameters<typeof all.Worker>) {
        super(...values)
        workers.push(this)
      }
    },
  }
})

test('no empty queue is put in its place', async () => {
  const { openEngine } = await import('../index.ts')
  const file = join(temporaryFolder(), 'jobs.db')
  const engine = await openEngine({ file })
  await engine.enqueue('x', 1)
  for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true })
  await workers[0]?.terminate()
  await expect(engine.enqueue('x', 2)).rejects.toMatchObject({ code: 'OWNER_LOST' })
  await engine.stop().catch(() => {})
  expect(existsSync(file)).toBe(false)
})

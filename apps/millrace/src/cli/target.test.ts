/** A command that looks at a file for days may become its owner. It keeps the jobs that the application keeps. */
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEngine } from '@millrace/engine'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { openTarget } from './target.ts'

const DAYS_MS = 86_400_000

test.each([
  ['that does not listen', 'postgres://127.0.0.1:1/jobs', /ECONNREFUSED/],
  ['with a port that is none', 'postgres://127.0.0.1:99999/jobs', /Invalid URL/],
])('a server of Postgres %s is no connection', async (_what, postgres, says) => {
  for (const create of [false, true])
    await expect(openTarget({ kind: 'postgres', postgres, schema: 'millrace' }, { create })).rejects.toMatchObject({
      code: 'CONNECT_FAILED',
      message: expect.stringMatching(says),
    })
})

test('a command that looks deletes no old jobs of queues that have no retention of their own', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'jobs.db')
  const before = await openEngine({ file, logger: null, retention: { cancelled: 'forever' } })
  await before.queues.configure('swept', { retention: { cancelled: '1d' } })
  const [kept, swept] = [await before.enqueue('job', 1, { delay: '1h' }), await before.enqueue('job', 2, { delay: '1h', queue: 'swept' })]
  for (const { id } of [kept, swept]) await before.cancel(id)
  await before.stop()
  const db = new Database(file)
  for (const [table, column] of Object.entries({ job: 'finished_at', finished: 'at' }))
    db.prepare(`UPDATE ${table} SET ${column} = ${column} - ?`).run(30 * DAYS_MS)
  db.close()

  const engine = await openTarget({ kind: 'file', file }, { looks: true })
  onTestFinished(() => engine.stop())
  // The engine has looked for old jobs once this one is gone.
  await expect.poll(() => engine.get(swept.id)).toBeUndefined()
  expect((await engine.get(kept.id))?.state).toBe('cancelled')
})

/**
 * The way back: jobs that Millrace has not finished return to pg-boss. Stop the workers first.
 * `DATABASE_URL=postgres://... node back.ts`. Run it again if it was stopped half way: no job comes twice.
 */
import { openEngine } from '@millrace/engine'
import { PgBoss } from 'pg-boss'

const url = process.env['DATABASE_URL'] ?? ''
const engine = await openEngine({ postgres: url, schema: process.env['SCHEMA'] ?? 'millrace' })
const boss = new PgBoss({ connectionString: url, schema: process.env['BOSS_SCHEMA'] ?? 'pgboss' })
boss.on('error', (error) => console.error(error))
await boss.start()

let after: string | undefined
do {
  const { jobs, next } = await engine.list({ state: ['waiting', 'scheduled'], order: 'oldest', ...(after && { after }) })
  for (const { id, queue, data, runAt, priority, attempt, maxAttempts } of jobs) {
    await boss.send(queue, data as object, { id, startAfter: runAt, priority, retryLimit: maxAttempts - attempt - 1 })
    await engine.cancel(id)
    console.log(`${queue} is back in pg-boss`)
  }
  after = next
} while (after !== undefined)
await boss.stop()
await engine.stop()

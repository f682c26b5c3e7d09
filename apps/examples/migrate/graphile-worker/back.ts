/**
 * The way back: jobs that Millrace has not finished return to Graphile Worker. Stop the workers first.
 * `DATABASE_URL=postgres://... node back.ts`. Run it again if it was stopped half way: no job comes twice.
 */
import { openEngine } from '@millrace/engine'
import { Logger, makeWorkerUtils } from 'graphile-worker'

const connectionString = process.env['DATABASE_URL'] ?? ''
const engine = await openEngine({ postgres: connectionString, schema: process.env['SCHEMA'] ?? 'millrace' })
const schema = process.env['WORKER_SCHEMA'] ?? 'graphile_worker'
const utils = await makeWorkerUtils({ connectionString, schema, logger: new Logger(() => () => {}) })

let after: string | undefined
do {
  const { jobs, next } = await engine.list({ state: ['waiting', 'scheduled'], order: 'oldest', ...(after && { after }) })
  for (const { id, name, data, runAt, priority, attempt, maxAttempts } of jobs) {
    await utils.addJob(name, data, { jobKey: id, runAt, priority: -priority, maxAttempts: maxAttempts - attempt })
    await engine.cancel(id)
    console.log(`${name} is back in Graphile Worker`)
  }
  after = next
} while (after !== undefined)
await utils.release()
await engine.stop()

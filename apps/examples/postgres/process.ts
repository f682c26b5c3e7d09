/** `process.ts [HOW_MANY]`: one of any number of processes that enqueue and run jobs of one queue in Postgres. */
import { setTimeout } from 'node:timers/promises'
import { defineJob, MillraceError, openEngine, stopOnSignals } from '@millrace/engine'

const count = Number(process.argv[2] ?? 10)
const postgres = process.env['DATABASE_URL'] ?? 'postgres://localhost/postgres'
const engine = await openEngine({ postgres, schema: process.env['EXAMPLE_SCHEMA'] ?? 'millrace_example' })
stopOnSignals(engine, { timeout: '5s' })

const { owner } = await engine.stats()
console.log(owner?.pid === process.pid ? 'this process owns the schema' : `process ${owner?.pid} owns the schema`)

const square = defineJob<number>({ name: 'square', maxAttempts: 10 })
engine.work(
  square.handler(async ({ data, job }) => {
    await setTimeout(200)
    console.log(`${data} squared is ${data * data} (attempt ${job.attempt})`)
    return data * data
  }),
  { concurrency: 2 },
)

/** Enqueues one job. A call that a takeover cut off may have happened; repeated with the same key, it happens once. */
async function enqueue(number: number): Promise<void> {
  try {
    await engine.enqueue(square, number, { idempotencyKey: `${process.pid}: ${number}` })
  } catch (error) {
    if (!(error instanceof MillraceError && error.retryable)) throw error
    await enqueue(number)
  }
}

for (let number = 0; number < count; number++) await enqueue(number)

/** A long job notes how far it is, and its next attempt goes on from there. */
import { defineJob, openEngine } from '@millrace/engine'

const load = defineJob<{ rows: number }>({ name: 'load', maxAttempts: 3, backoff: { type: 'fixed', delay: '10ms' } })

await using engine = await openEngine({ file: ':memory:' })
engine.work([
  load.handler(async ({ data, job, checkpoint }) => {
    const from = (job.checkpoint as { done: number } | undefined)?.done ?? 0
    console.log(`attempt ${job.attempt} begins behind row ${from}`)
    for (let row = from + 1; row <= data.rows; row++) {
      if (row === 300 && job.attempt === 1) throw new Error('the connection was reset')
      // Each is a commit, and gives the run more time as a heartbeat does: now and then is enough.
      if (row % 100 === 0) await checkpoint({ done: row })
    }
    return data.rows
  }),
])

const handle = await engine.enqueue(load, { rows: 500 })
console.log(`${await handle.result({ timeout: '30s' })} rows loaded`)

// The first payload stays as it was.
const { data, checkpoint } = (await engine.get(handle.id)) ?? {}
console.log(JSON.stringify({ data, checkpoint }))

/** Works in a process of its own. Through restarts of the engine it keeps what it runs. */
import { setTimeout } from 'node:timers/promises'
import { connect, stopOnSignals } from '@millrace/remote'
import { square, URL } from './jobs.ts'

const engine = await connect(URL, { logger: console })
const worker = engine.work(
  square.handler(async ({ data, job, signal }) => {
    console.log(`${data}: attempt ${job.attempt}`)
    try {
      await setTimeout(1_000, undefined, { signal })
    } catch (error) {
      console.log(`${data}: given up (${(signal.reason as Error).message})`)
      throw error
    }
    return data * data
  }),
  { concurrency: 4 },
)
console.log(`${worker.id} is ready`)

stopOnSignals(engine, { timeout: '5s' })

/** The engine of this process, with its worker. */
import { defineJob, type Engine, openEngine, stopOnSignals } from '@millrace/engine'

export const sendMail = defineJob<{ to: string }>({ name: 'send-mail', maxAttempts: 5, timeout: '1m' })

const handlers = [sendMail.handler(({ data }) => console.log(`mail to ${data.to}`))]

// Next loads this file more than once: again after each change, and for several bundles. The engine is one per process.
const kept = globalThis as { queue?: Promise<Engine> }
let isWorking = false

export async function queue(): Promise<Engine> {
  kept.queue ??= open().catch((error) => {
    // The next call tries again.
    kept.queue = undefined
    throw error
  })
  const engine = await kept.queue
  // Replaces the worker of the same id, whose handlers were loaded earlier.
  if (!isWorking) engine.work(handlers, { id: 'app' })
  isWorking = true
  return engine
}

async function open(): Promise<Engine> {
  const engine = await openEngine({ file: process.env.JOBS_FILE ?? 'jobs.db', waitForOwner: '30s' })
  stopOnSignals(engine)
  return engine
}

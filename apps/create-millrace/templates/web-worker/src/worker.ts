/** A worker process. Start as many as you like; each keeps its running jobs while the server restarts. */
import { connect, stopOnSignals } from '@millrace/remote'
import { QUEUE } from './address.ts'
import { handlers } from './handlers.ts'

// Waits for the server, if that is not up yet.
const engine = await connect(QUEUE, { connectTimeout: '1m', logger: console })
// At SIGTERM or Ctrl-C, running jobs have 10 s to finish.
stopOnSignals(engine, { timeout: '10s' })

const worker = engine.work(handlers, { concurrency: 16 })
console.log(`worker ${worker.id} is ready`)

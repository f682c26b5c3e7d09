/** Opens the queue, starts its worker and its schedule, and creates a first job. */
import { openEngine, stopOnSignals } from '@millrace/engine'
import { sendMail } from './jobs.ts'
import { createMailer } from './mailer.ts'
import { startSchedules, startWorker } from './worker.ts'

// `waitForOwner`: during a deploy, the next process waits until this one has closed the file.
const engine = await openEngine({ file: process.env['JOBS_FILE'] ?? 'jobs.db', waitForOwner: '30s' })
// At SIGTERM or Ctrl-C, running jobs have 10 s to finish. Waiting jobs stay in the file.
stopOnSignals(engine, { timeout: '10s' })

startWorker(engine, createMailer())
await startSchedules(engine)

const job = await engine.enqueue(sendMail, { to: 'ada@example.com' }) // resolves once the job is on disk
console.log(`enqueued ${job.id}`)

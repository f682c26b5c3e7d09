/** A job that fails for good, and an engine that was given no logger, or none at all. */
import { defineJob, openEngine } from '@millrace/engine'

const engine = await openEngine({ file: ':memory:', ...(process.argv[2] === 'quiet' && { logger: false }) })
const mail = defineJob({ name: 'mail', maxAttempts: 1 })
engine.work(
  mail.handler(() => {
    throw new Error('no \u001b[31mroute')
  }),
)
const handle = await engine.enqueue(mail)
await handle.result().catch(() => {})
await engine.stop()
process.stdout.write('over\n')

/** The engine logs to pino, as lines of JSON: `node main.ts`. */
import { defineJob, type Logger, openEngine } from '@millrace/engine'
import { pino } from 'pino'

const log = pino({ base: null, timestamp: false }).child({ part: 'queue' })
const logger: Logger = {
  debug: (message, fields) => log.debug(fields, message),
  info: (message, fields) => log.info(fields, message),
  warn: (message, fields) => log.warn(fields, message),
  error: (message, fields) => log.error(fields, message),
}

const engine = await openEngine({ file: ':memory:', logger })
const send = defineJob<{ to: string }>({ name: 'send', maxAttempts: 2, backoff: { type: 'fixed', delay: 10 } })
engine.work(
  send.handler(({ data, log: line }) => {
    // These lines belong to the job: `get`, the dashboard and `millrace jobs logs` show them.
    line('info', 'connecting', { to: data.to })
    throw new Error('no such address')
  }),
)
const handle = await engine.enqueue(send, { to: 'ada@example.com' })
await handle.result().catch((error) => log.info(error.message))
await engine.stop()

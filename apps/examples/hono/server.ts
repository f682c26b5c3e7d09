/** Millrace in Hono: a route enqueues, a worker runs in the same process, and SIGTERM or Ctrl-C stops both in order. */
import { serve } from '@hono/node-server'
import { defineJob, openEngine, stopOnSignals } from '@millrace/engine'
import { Hono } from 'hono'

const { JOBS_FILE: file = 'jobs.db', PORT: port = 8080 } = process.env
const sendMail = defineJob<{ to: string }>({ name: 'send-mail', maxAttempts: 5, timeout: '1m' })

const engine = await openEngine({ file })
engine.work(sendMail.handler(({ data }) => console.log(`mail to ${data.to}`)))

const app = new Hono()
app.post('/mails', async (c) => {
  const { to } = await c.req.json<{ to: string }>()
  const { id } = await engine.enqueue(sendMail, { to })
  return c.json({ id }, 202)
})
const server = serve({ fetch: app.fetch, port: Number(port), hostname: '127.0.0.1' }, (at) =>
  console.log(`listening on http://127.0.0.1:${at.port}`),
)
stopOnSignals(engine, { before: () => new Promise((closed) => server.close(closed)) })

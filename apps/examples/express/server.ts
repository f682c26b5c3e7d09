/** Millrace in Express: a route enqueues, a worker runs in the same process, and SIGTERM or Ctrl-C stops both in order. */
import type { AddressInfo } from 'node:net'
import { defineJob, openEngine, stopOnSignals } from '@millrace/engine'
import express from 'express'

const { JOBS_FILE: file = 'jobs.db', PORT: port = 8080 } = process.env
const sendMail = defineJob<{ to: string }>({ name: 'send-mail', maxAttempts: 5, timeout: '1m' })

const engine = await openEngine({ file })
engine.work(sendMail.handler(({ data }) => console.log(`mail to ${data.to}`)))

const app = express().use(express.json())
app.post('/mails', async ({ body }, response) => {
  const { id } = await engine.enqueue(sendMail, { to: body.to })
  response.status(202).json({ id })
})
const server = app.listen(Number(port), '127.0.0.1', (error) => {
  if (error) throw error
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
stopOnSignals(engine, { before: () => new Promise((closed) => server.close(closed)) })

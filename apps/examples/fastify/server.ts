/** Millrace in Fastify: a route enqueues, a worker runs in the same process, and SIGTERM or Ctrl-C stops both in order. */
import { randomUUID } from 'node:crypto'
import { defineJob, stopOnSignals } from '@millrace/engine'
import { millrace } from '@millrace/fastify'
import Fastify from 'fastify'

const { JOBS_FILE: file = 'jobs.db', PORT: port = 8080, QUEUE_TOKEN: token = randomUUID() } = process.env
const sendMail = defineJob<{ to: string }>({ name: 'send-mail', maxAttempts: 5, timeout: '1m' })

const app = Fastify()
await app.register(millrace, { file, http: { token, basePath: '/queue' } })
stopOnSignals(app.millrace, { before: () => app.close() })

app.millrace.work(sendMail.handler(({ data }) => console.log(`mail to ${data.to}`)))

app.post<{ Body: { to: string } }>('/mails', async ({ body }, reply) => {
  const { id } = await app.millrace.enqueue(sendMail, { to: body.to })
  return reply.code(202).send({ id })
})

console.log(`listening on ${await app.listen({ port: Number(port), host: '127.0.0.1' })}`)

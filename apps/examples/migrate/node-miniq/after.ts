/** An ingest of node-miniq on Millrace: `node after.ts FILE`. Lines come over HTTP, and a procedure gets many of them in one call. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { defineJob, openEngine } from '@millrace/engine'
import { createHttp } from '@millrace/http'

const [file = 'jobs.db'] = process.argv.slice(2)
const token = randomBytes(32).toString('base64url')
const engine = await openEngine({ file, logger: false, defaults: { maxAge: '6h', ttl: '30d' }, retention: { completed: { age: '14d' } } })

const api = createHttp(engine, { token, control: { stop: () => ended.resolve() } })
const ended = Promise.withResolvers<void>()
const server = createServer(getRequestListener(api.fetch)).listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const headers = { authorization: `Bearer ${token}`, 'content-type': 'text/plain' }
const post = (path: string, body?: string) => fetch(`${url}${path}`, { method: 'POST', headers, ...(body !== undefined && { body }) })

// No job starts while the engine is paused.
await post('/v1/engine/pause')
const lines = '# a comment\nada\n\ngrace\nnobody\n'
const added = (await (await post('/v1/jobs:import?name=greet&client=shop', lines)).json()) as Record<string, unknown>
console.log(`lines: ${added['lines']}, skipped: ${added['skipped']}, created: ${added['created']}`)

// One call for all lines, and an outcome for each of them.
const greet = defineJob<string, string>({ name: 'greet', backoff: { type: 'fixed', delay: 0 } })
const done = Promise.withResolvers<void>()
let left = 3
engine.on('completed', () => --left === 0 && done.resolve())
engine.work(
  greet.handler(
    (items) =>
      items.map(({ data, job }) => {
        if (data === 'nobody' && job.attempt === 1) return { error: new Error('nobody is there') }
        return { output: `hello ${data}, client ${job.tags}, attempt ${job.attempt}` }
      }),
    { batch: { size: 10, maxWait: 0 } },
  ),
  { concurrency: 10 },
)
await post('/v1/engine/resume')
await done.promise
const { jobs } = await engine.list({ name: 'greet', order: 'oldest' })
for (const { output } of jobs) console.log(output)

await post('/v1/engine/stop')
await ended.promise
server.close()
await engine.stop()

/** A queue behind HTTP, and a worker behind the queue: `node server.ts FOLDER [PORT]`. Its token comes from TOKEN, or is made and printed. */
import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { defineJob, openEngine, stopOnSignals } from '@millrace/engine'
import { createHttp } from '@millrace/http'

const [folder = 'queue', port = '0'] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })

const engine = await openEngine({ file: join(folder, 'jobs.db'), waitForOwner: '10s' })
const resize = defineJob<{ path: string }>({ name: 'resize' })
engine.work(resize.handler(({ data }) => ({ small: data.path.replace('.png', '.small.png') })))

const { TOKEN } = process.env
const token = TOKEN ?? randomBytes(32).toString('base64url')
const api = createHttp(engine, { token, audit: ({ who, operation, outcome }) => console.log(`${who}: ${operation}, ${outcome}`) })

// An import may take as long as it needs: bodies that do not come are given up by the API itself.
const server = createServer(
  { headersTimeout: 10_000, requestTimeout: 0, connectionsCheckingInterval: 5_000 },
  getRequestListener(api.fetch),
)
server.listen(Number(port), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  if (TOKEN === undefined) console.log(`token ${token}`)
})

// Streams of events have ended by then.
stopOnSignals(engine, { before: () => new Promise((closed) => server.close(closed)) })

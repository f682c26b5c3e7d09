/**
 * `pnpm bench:http [SECONDS] [TURNS]`: `POST /v1/jobs` beside a bare Hono handler that parses the same body, and `POST /v1/jobs:import`
 * beside `enqueueMany` of the same jobs; each in turns with the other, on one server of one process. The load comes from a thread.
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { getRequestListener } from '@hono/node-server'
import { openEngine } from '@millrace/engine'
import { createHttp } from '@millrace/http'
import { Hono } from 'hono'
import { payloadOf } from './payload.ts'
import { median } from './quantile.ts'
import { markdown } from './table.ts'

const CONNECTIONS = 256
const IMPORTED = 50_000
const TOKEN = 'a-token-of-the-bench-0123456789'

const seconds = Number(process.argv[2] ?? 3)
const turns = Number(process.argv[3] ?? 5)
if (!(seconds > 0) || !Number.isInteger(turns) || turns < 1) throw new RangeError('SECONDS is above 0, and TURNS a whole number from 1')

const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
const engine = await openEngine({ file: join(folder, 'jobs.db'), durability: 'normal' })
const api = createHttp(engine, { token: TOKEN })
const bare = new Hono().post('/v1/jobs', async (c) => {
  const { job } = await c.req.json()
  return c.json({ id: job, created: true }, 201)
})

const servers = { 'bare Hono handler': await serve(bare.fetch), 'POST /v1/jobs': await serve(api.fetch) }
const rates: Record<string, number[]> = {}
/** Processor time of the server's thread for one request: hardly moved by what else the machine does. */
const busyUs: Record<string, number[]> = {}
const note = (what: string, rate: number) => {
  rates[what] ??= []
  rates[what].push(rate)
}

for (const server of Object.values(servers)) await posts(server, 1)
for (let turn = 0; turn < turns; turn++) {
  for (const [what, server] of Object.entries(servers)) {
    const before = process.threadCpuUsage()
    const rate = await posts(server, seconds)
    const { user, system } = process.threadCpuUsage(before)
    note(what, rate)
    busyUs[what] ??= []
    busyUs[what].push((user + system) / (rate * seconds))
  }
}
await imports()
await enqueues()
for (let turn = 0; turn < turns; turn++) {
  note('enqueueMany', await enqueues())
  note('POST /v1/jobs:import', await imports())
}

/** Of turns beside each other: what else the machine does then is the same for both. */
const ratio = (what: string, beside: string) =>
  median((rates[what] as number[]).map((rate, turn) => rate / (rates[beside]?.[turn] as number)))
const rows = Object.entries(rates).map(([what, each]) => [
  what,
  Math.round(median(each)).toLocaleString('en-US'),
  busyUs[what] === undefined ? '' : median(busyUs[what]).toFixed(1),
])
process.stdout.write(`${markdown(['', 'per second', "µs of the server's thread"], rows)}\n\n`)
process.stdout.write(`POST /v1/jobs / bare Hono handler: ${ratio('POST /v1/jobs', 'bare Hono handler').toFixed(2)}\n`)
process.stdout.write(`POST /v1/jobs:import / enqueueMany: ${ratio('POST /v1/jobs:import', 'enqueueMany').toFixed(2)}\n`)

for (const server of Object.values(servers)) {
  server.closeAllConnections()
  server.close()
}
await engine.stop()
rmSync(folder, { recursive: true })

async function serve(fetch: Parameters<typeof getRequestListener>[0]): Promise<Server> {
  const server = createServer(getRequestListener(fetch))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

/** Requests a second, over as many connections as there are, each with one request at a time. */
async function posts(server: Server, forSeconds: number): Promise<number> {
  const body = JSON.stringify({ job: 'bench', data: payloadOf(1) })
  const request = `POST /v1/jobs HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${TOKEN}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  const workerData = { port: portOf(server), request, connections: CONNECTIONS, ms: forSeconds * 1_000 }
  const thread = new Worker(new URL('./httpLoad.ts', import.meta.url), { workerData })
  const [{ answers, ms, status }] = await once(thread, 'message')
  await thread.terminate()
  if (status !== 201) throw new Error(`a post was answered with ${status}`)
  return (answers / ms) * 1_000
}

async function imports(): Promise<number> {
  let sent = 0
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent >= IMPORTED) return controller.close()
      let text = ''
      for (const end = Math.min(IMPORTED, sent + 1_000); sent < end; sent++) text += `${JSON.stringify(payloadOf(sent))}\n`
      controller.enqueue(encoder.encode(text))
    },
  })
  const began = performance.now()
  const response = await fetch(`http://127.0.0.1:${portOf(servers['POST /v1/jobs'])}/v1/jobs:import?name=bench`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/x-ndjson' },
    body,
    duplex: 'half',
  } as RequestInit)
  const { created } = (await response.json()) as { created: number }
  if (created !== IMPORTED) throw new Error(`${created} of ${IMPORTED} lines were imported`)
  return IMPORTED / ((performance.now() - began) / 1_000)
}

async function enqueues(): Promise<number> {
  async function* jobs() {
    for (let job = 0; job < IMPORTED; job++) yield { job: 'bench', data: payloadOf(job) }
  }
  const began = performance.now()
  await engine.enqueueMany(jobs())
  return IMPORTED / ((performance.now() - began) / 1_000)
}

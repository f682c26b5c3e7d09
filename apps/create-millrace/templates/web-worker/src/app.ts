/** The HTTP API: it creates jobs and shows them, and runs none. */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Engine } from '@millrace/remote'
import { confirmOrder } from './jobs.ts'

interface Answer {
  readonly status: number
  readonly body: object
}

export function createApp(engine: Engine): Server {
  return createServer(async (request, response) => {
    const { status, body } = await answer(engine, request).catch((error: Error) => {
      console.error(error)
      return { status: 500, body: { error: 'internal error' } }
    })
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
}

async function answer(engine: Engine, request: IncomingMessage): Promise<Answer> {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost')
  if (request.method === 'POST' && pathname === '/orders') return order(engine, request)
  const id = /^\/orders\/([\w-]+)$/.exec(pathname)?.[1]
  if (request.method === 'GET' && id !== undefined) return show(engine, id)
  return { status: 404, body: { error: 'not found: POST /orders, or GET /orders/<id>' } }
}

async function order(engine: Engine, request: IncomingMessage): Promise<Answer> {
  const item = itemOf(await text(request))
  if (item === undefined) return { status: 400, body: { error: 'send JSON: {"item": "book"}' } }
  // A client that repeats its request with the same key gets the same job.
  const key = request.headers['idempotency-key']
  const { id } = await engine.enqueue(confirmOrder, { item }, typeof key === 'string' ? { idempotencyKey: key } : {})
  return { status: 202, body: { id } } // the job is on disk
}

function itemOf(body: string): string | undefined {
  try {
    const { item } = JSON.parse(body) as { readonly item?: unknown }
    return typeof item === 'string' && item !== '' ? item : undefined
  } catch {
    return undefined
  }
}

async function show(engine: Engine, id: string): Promise<Answer> {
  const job = await engine.get(id)
  if (job === undefined) return { status: 404, body: { error: `no order ${id}` } }
  return { status: 200, body: { id, state: job.state, output: job.output } }
}

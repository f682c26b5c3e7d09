/** The HTTP API: it creates jobs and shows them, and runs none. */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { type Engine, MillraceError, OptionRangeError, OptionTypeError } from '@millrace/remote'
import { confirmOrder } from './jobs.ts'

/** The largest body, in bytes. */
const BODY_MAX = 64 * 1024

interface Answer {
  readonly status: number
  readonly body: object
}

export function createApp(engine: Engine): Server {
  return createServer(async (request, response) => {
    const { status, body } = await answer(engine, request).catch(refusal)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
}

/** The client has sent something wrong, or may try again, or this program has a fault. */
function refusal(error: Error): Answer {
  if (error instanceof OptionTypeError || error instanceof OptionRangeError) return { status: 400, body: { error: error.message } }
  console.error(error)
  if (error instanceof MillraceError && error.retryable) return { status: 503, body: { error: 'try again later' } }
  return { status: 500, body: { error: 'internal error' } }
}

async function answer(engine: Engine, request: IncomingMessage): Promise<Answer> {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost')
  if (request.method === 'POST' && pathname === '/orders') return order(engine, request)
  const id = /^\/orders\/([\w-]+)$/.exec(pathname)?.[1]
  if (request.method === 'GET' && id !== undefined) return show(engine, id)
  return { status: 404, body: { error: 'not found: POST /orders, or GET /orders/<id>' } }
}

async function order(engine: Engine, request: IncomingMessage): Promise<Answer> {
  const sent = await bodyOf(request)
  if (sent === undefined) return { status: 413, body: { error: `send at most ${BODY_MAX} bytes` } }
  const item = itemOf(sent)
  if (item === undefined) return { status: 400, body: { error: 'send JSON: {"item": "book"}' } }
  // A client that repeats its request with the same key gets the same job.
  const key = request.headers['idempotency-key']
  const { id } = await engine.enqueue(confirmOrder, { item }, typeof key === 'string' ? { idempotencyKey: key } : {})
  return { status: 202, body: { id } } // the job is on disk
}

/** Returns undefined for a body that is too large: its rest is read, so that the client gets the answer, and not kept. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= BODY_MAX) chunks.push(chunk)
  }
  return size <= BODY_MAX ? Buffer.concat(chunks).toString() : undefined
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

/** The thread that talks to the server: it sends all statements of a call at once, and answers when the last of them has ended. */
import { workerData } from 'node:worker_threads'
import { quietClock } from '@millrace/worker/clock'
import pg from 'pg'
import { checkDirect } from './direct.ts'
import { errorOf } from './errorOf.ts'
import { Exchanges } from './exchange.ts'
import type { BridgeData, Call, Reply, Request, Sent } from './message.ts'
import { backendOf, streamOf } from './opened.ts'

const { port, replies, target } = workerData as BridgeData

const CONNECT_MS = 10_000
const GOODBYE_MS = 1_000
const NO_SERVER: Reply = { rows: [], error: { message: 'not connected', code: undefined, constraint: undefined } }
const NOTHING: Reply = { rows: [], error: undefined }

const BEGIN: Sent = { text: 'BEGIN', parameters: [] }
const COMMIT: Sent = { text: 'COMMIT', parameters: [] }
const ROLLBACK: Sent = { text: 'ROLLBACK', parameters: [] }

let server: Exchanges | undefined

port.on('message', async ({ id, body }: Call<Request>) => {
  port.postMessage({ id, body: await answer(body) } satisfies Call<Reply>)
  Atomics.add(replies, 0, 1)
  Atomics.notify(replies, 0)
})

async function answer(request: Request): Promise<Reply> {
  switch (request.kind) {
    case 'connect':
      return connect()
    case 'run':
      return server?.send(request.statements) ?? NO_SERVER
    case 'transact':
      return transact(request.statements)
    case 'close':
      return close()
  }
}

async function transact(statements: readonly Sent[]): Promise<Reply> {
  const to = server
  if (to === undefined) return NO_SERVER
  const { rows, error } = await to.send([BEGIN, ...statements, COMMIT])
  // The server has skipped the end of the transaction.
  if (error !== undefined) await to.send([ROLLBACK])
  return { rows: rows.slice(1, -1), error }
}

/** Counts connections: one that comes about after it was given up is dropped. */
let opening = 0

async function connect(): Promise<Reply> {
  const mine = ++opening
  // The server may have vanished: nothing is waited for.
  if (server !== undefined) streamOf(server.client).destroy()
  server = undefined
  let opened: pg.Client | undefined
  try {
    // It throws if it cannot read the URL.
    opened = new pg.Client({
      connectionString: target.url,
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_MS,
    })
    // The statements under way hear of it.
    opened.on('error', () => {})
    await opened.connect()
    await checkDirect(opened)
    const exchanges = new Exchanges(opened)
    const { error } = await exchanges.send(target.setUp.map((text) => ({ text, parameters: [] })))
    if (error !== undefined || mine !== opening) {
      streamOf(opened).destroy()
      return error === undefined ? NO_SERVER : { rows: [], error }
    }
    // Nothing is asked of a connection before its settings hold.
    server = exchanges
    return { rows: [[[backendOf(opened)]]], error }
  } catch (error) {
    if (opened !== undefined) streamOf(opened).destroy()
    return { rows: [], error: errorOf(error) }
  }
}

async function close(): Promise<Reply> {
  const last = server?.client
  server = undefined
  opening++
  if (last === undefined) return NOTHING
  const cancel = quietClock.setTimer(GOODBYE_MS, () => streamOf(last).destroy())
  // A broken connection has nothing to say goodbye with.
  await last.end().catch(() => {})
  cancel()
  return NOTHING
}

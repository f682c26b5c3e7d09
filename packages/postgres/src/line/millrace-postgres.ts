/** The thread that talks to the server: it sends all statements of a call at once, and answers when the last of them has ended. */
import { workerData } from 'node:worker_threads'
import { quietClock } from '@millrace/worker/clock'
import pg from 'pg'
import { errorOf } from './errorOf.ts'
import type { Call, LineData, LineError, Reply, Request, Statement } from './message.ts'
import { escapedValue, restored } from './nul.ts'
import { backendOf, streamOf } from './opened.ts'

const { port, replies, target } = workerData as LineData

/** Object ids of types. */
const INT8 = 20
const BYTEA = 17
const TEXT = 25
const TEXTS = 1009

const CONNECT_MS = 10_000
const GOODBYE_MS = 1_000
const NOT_CONNECTED: LineError = { message: 'not connected', code: undefined, constraint: undefined }

const NOTHING: Reply = { rows: [], error: undefined }

const BEGIN: Statement = { text: 'BEGIN', values: [] }
const COMMIT: Statement = { text: 'COMMIT', values: [] }

const parseBytes = pg.types.getTypeParser(BYTEA) as (text: string) => Buffer
const parseTexts = pg.types.getTypeParser(TEXTS as number) as (text: string) => string[]
const PARSERS = new Map<number, (text: string) => unknown>([
  // They stay below 2^53.
  [INT8, Number],
  // A copy: what a buffer shares would travel with it.
  [BYTEA, (text) => new Uint8Array(parseBytes(text))],
  [TEXT, restored],
  [TEXTS, (text) => parseTexts(text).map(restored)],
])
const types = { getTypeParser: (type: number) => PARSERS.get(type) ?? pg.types.getTypeParser(type) }

let client: pg.Client | undefined
/** The names of prepared statements. Texts are few: values are parameters. */
const names = new Map<string, string>()

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
      return send(request.statements)
    case 'transact': {
      const { rows, error } = await send([BEGIN, ...request.statements, COMMIT])
      return { rows: rows.slice(1, -1), error }
    }
    case 'close':
      return close()
  }
}

/** Counts connections: one that comes about after it was given up is dropped. */
let opening = 0

async function connect(): Promise<Reply> {
  const mine = ++opening
  // The server may have vanished: nothing is waited for.
  if (client !== undefined) streamOf(client).destroy()
  client = undefined
  try {
    // It throws if it cannot read the URL.
    const opened = new pg.Client({
      connectionString: target.url,
      pipeline: true,
      types,
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_MS,
    } as pg.ClientConfig)
    // The statements under way hear of it.
    opened.on('error', () => {})
    await opened.connect()
    if (mine !== opening) {
      streamOf(opened).destroy()
      return { rows: [], error: NOT_CONNECTED }
    }
    client = opened
    const { error } = await send(target.setUp.map((text) => ({ text, values: [] })))
    return { rows: [[[backendOf(opened)]]], error }
  } catch (error) {
    return { rows: [], error: errorOf(error) }
  }
}

async function close(): Promise<Reply> {
  const last = client
  client = undefined
  opening++
  if (last === undefined) return NOTHING
  const cancel = quietClock.setTimer(GOODBYE_MS, () => streamOf(last).destroy())
  // A broken connection has nothing to say goodbye with.
  await last.end().catch(() => {})
  cancel()
  return NOTHING
}

/** Sends all of them, and returns the first error: those behind it in a transaction only say that it was aborted. */
async function send(statements: readonly Statement[]): Promise<Reply> {
  const sending = client
  if (sending === undefined) return { rows: [], error: NOT_CONNECTED }
  const results = await Promise.allSettled(statements.map((statement) => sending.query(queryOf(statement))))
  const failed = results.find((result) => result.status === 'rejected')
  return {
    rows: results.map((result) => (result.status === 'fulfilled' ? result.value.rows : [])),
    error: failed === undefined ? undefined : errorOf(failed.reason),
  }
}

function queryOf({ text, values }: Statement): pg.QueryArrayConfig {
  let name = names.get(text)
  if (name === undefined) {
    name = `m${names.size}`
    names.set(text, name)
  }
  return { name, text, values: values.map(escapedValue), rowMode: 'array' }
}

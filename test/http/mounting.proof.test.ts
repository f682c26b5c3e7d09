/** The API in apps of others: each file of docs/http.md as it stands, in a process of its own, asked over sockets; and Next's as Next calls it. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { codeAfter, folderWith, startApp, TOKEN } from './mounted.ts'

const AUTH = { authorization: `Bearer ${TOKEN}` }
const JSON_HEADERS = { ...AUTH, 'content-type': 'application/json' }
const LONG = 180_000

type Fetch = (path: string, init?: RequestInit & { readonly duplex?: 'half' }) => Promise<Response>

async function started(program: URL, ...args: readonly string[]): Promise<Fetch> {
  const origin = await startApp(program, ...args)
  return (path, init) => fetch(`${origin}${path}`, init)
}

const stream = (lines: number) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (let line = 0; line < lines; line += 100)
        controller.enqueue(new TextEncoder().encode(Array.from({ length: 100 }, (_, at) => `{"n":${line + at}}\n`).join('')))
      controller.close()
    },
  })

async function answerOf(response: Response) {
  const text = await response.text()
  return { status: response.status, type: response.headers.get('content-type'), body: text === '' ? undefined : JSON.parse(text) }
}

/** What every mounting has to do: bodies, streams both ways, errors of all kinds. */
async function serves(send: Fetch, base: string): Promise<void> {
  const made = await send(`${base}/v1/jobs`, { method: 'POST', headers: JSON_HEADERS, body: '{"job":"a","data":"é"}' })
  const location = made.headers.get('location') as string
  const { status, body } = await answerOf(made)
  expect({ status, location }).toEqual({ status: 201, location: `${base}/v1/jobs/${body.id}` })
  // A link in an answer leads to where the API is.
  expect(await answerOf(await send(location, { headers: AUTH }))).toMatchObject({ status: 200, body: { state: 'waiting', data: 'é' } })
  const patch = { method: 'PATCH', headers: JSON_HEADERS, body: '{"priority":3}' }
  expect((await send(location, patch)).status).toBe(204)
  expect((await send(`${base}/v1/queues/mail`, { method: 'PUT', headers: JSON_HEADERS, body: '{"share":2}' })).status).toBeLessThan(300)

  const imported = await send(`${base}/v1/jobs:import?name=line`, {
    method: 'POST',
    headers: { ...AUTH, 'content-type': 'application/x-ndjson' },
    body: stream(5_000),
    duplex: 'half',
  })
  expect(await answerOf(imported)).toMatchObject({ status: 200, body: { lines: 5_000, created: 5_000 } })
  const lines = { method: 'POST', headers: { ...AUTH, 'content-type': 'text/plain' }, body: 'one\ntwo\n' }
  expect(await answerOf(await send(`${base}/v1/jobs:import?name=line`, lines))).toMatchObject({ body: { created: 2 } })

  const problem = { type: 'application/problem+json' }
  const refused: readonly (readonly [path: string, init: RequestInit, status: number, code: string])[] = [
    ['/v1/jobs', { method: 'POST', headers: JSON_HEADERS, body: '{"job":' }, 400, 'MALFORMED'],
    ['/v1/jobs', { method: 'POST', headers: JSON_HEADERS, body: '{"jobs":"a"}' }, 400, 'VALIDATION'],
    ['/v1/jobs', { method: 'POST', headers: { ...AUTH, 'content-type': 'text/html' }, body: '<p>' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    [
      '/v1/jobs',
      { method: 'POST', headers: JSON_HEADERS, body: JSON.stringify({ job: 'a', data: 'x'.repeat(2 ** 20) }) },
      413,
      'TOO_LARGE',
    ],
    ['/v1/jobs', {}, 401, 'AUTH_FAILED'],
    ['/v1/jobs/nothing', { headers: AUTH }, 404, 'JOB_NOT_FOUND'],
    ['/v1/nowhere', { headers: AUTH }, 404, 'NOT_FOUND'],
    ['/v1/stats', { method: 'DELETE', headers: AUTH }, 405, 'METHOD_NOT_ALLOWED'],
  ]
  for (const [path, init, status, code] of refused)
    expect(await answerOf(await send(`${base}${path}`, init)), `${path} ${code}`).toMatchObject({ ...problem, status, body: { code } })

  // More than may be open at a time: each that its reader leaves is given back.
  for (let reader = 0; reader < 300; reader++) {
    const leave = new AbortController()
    const events = await send(`${base}/v1/events?jobId=${body.id}`, { headers: AUTH, signal: leave.signal })
    expect(events.status).toBe(200)
    const from = (events.body as ReadableStream<Uint8Array>).getReader()
    let text = ''
    while (!text.includes('event: enqueued')) text += new TextDecoder().decode((await from.read()).value)
    leave.abort()
    await from.cancel().catch(() => {})
  }
  expect(await answerOf(await send(`${base}/readyz`))).toMatchObject({ status: 200 })
  expect((await send(location, { method: 'DELETE', headers: AUTH })).status).toBe(204)
}

/** Requests of one connection are answered one by one; by the dozen, they close it. */
async function boundsConnections(send: Fetch, base: string): Promise<void> {
  const { port } = new URL((await send(`${base}/readyz`)).url)
  const heardBy = async (text: string) => {
    const socket = connect(Number(port), '127.0.0.1').on('error', () => {})
    socket.setEncoding('utf8').write(text)
    let heard = ''
    socket.on('data', (part: string) => {
      heard += part
    })
    await once(socket, 'close')
    return heard.match(/HTTP\/1\.1 200 /g)?.length ?? 0
  }
  const request = `GET ${base}/openapi.json HTTP/1.1\r\nHost: x\r\n`
  expect(await heardBy(`${`${request}\r\n`.repeat(9)}${request}Connection: close\r\n\r\n`)).toBe(10)
  expect(await heardBy(`${request}\r\n`.repeat(1_000))).toBeLessThan(18)
  expect((await send(`${base}/readyz`)).status).toBe(200)
}

test('a server of node:http', { timeout: LONG }, async () => {
  const send = await started(folderWith('server.ts', codeAfter('# The queue over HTTP')))
  await serves(send, '')
  await boundsConnections(send, '')
})

describe.each(['Hono', 'Express', 'Fastify'])('%s', (name) => {
  test('serves the queue at its path, and the app at all others', { timeout: LONG }, async () => {
    const send = await started(folderWith('server.ts', codeAfter(`**${name}**`)))
    await serves(send, '/queue')
    await boundsConnections(send, '/queue')
    expect(await (await send('/')).text()).toBe('an app')
    expect((await send('/v1/jobs', { headers: AUTH })).status).toBe(404)
  })
})

test('Next: the functions of a route handler, by method', { timeout: LONG }, async () => {
  const route = folderWith('route.ts', codeAfter('**Next**'))
  await serves(await started(new URL('./programs/next.ts', import.meta.url), route.href), '/queue')
})

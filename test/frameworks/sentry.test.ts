// apps/examples/sentry, which sends to a server of this test: failed runs, and no others, in the trace of their enqueue.
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createGunzip } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { startProgram } from '../program.ts'

interface SentEvent {
  readonly level: string
  readonly exception: { readonly values: readonly { readonly type: string; readonly value: string }[] }
  readonly tags: object
  readonly contexts: { readonly trace: { readonly trace_id: string; readonly span_id: string }; readonly job: object }
}

interface SentSpan {
  readonly name: string
  readonly trace_id: string
  readonly span_id: string
  readonly parent_span_id?: string
  readonly status: string
}

/** The payloads of an envelope with their types: lines of JSON, the first of which is its head. */
async function itemsOf(request: IncomingMessage): Promise<(readonly [type: string, payload: unknown])[]> {
  const body = request.headers['content-encoding'] === 'gzip' ? request.pipe(createGunzip()) : request
  const [, ...lines] = (await text(body)).split('\n').filter(Boolean)
  return lines.flatMap((line, at) => (at % 2 === 0 ? [[JSON.parse(line).type, JSON.parse(lines[at + 1] as string)] as const] : []))
}

test('attempts that fail are reported, within the trace of their enqueue; a snooze is not', async () => {
  const events: SentEvent[] = []
  const spans: SentSpan[] = []
  const server = createServer(async (request, response) => {
    for (const [type, payload] of await itemsOf(request)) {
      if (type === 'event') events.push(payload as SentEvent)
      if (type === 'span') spans.push(...(payload as { items: readonly SentSpan[] }).items)
    }
    response.end('{}')
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((listening) => server.once('listening', listening))
  const { port } = server.address() as AddressInfo
  const program = startProgram(
    new URL('../../apps/examples/sentry/main.ts', import.meta.url),
    [],
    ['env', `SENTRY_DSN=http://key@127.0.0.1:${port}/1`],
  )
  expect(await program.ended).toMatchObject({ code: 0, stderr: '' })
  expect(program.lines).toEqual([
    'late.png is small',
    expect.stringContaining('gone.png is not there'),
    expect.stringContaining('notes.txt is no picture'),
  ])

  expect(events.map(({ level, exception, tags, contexts: { job } }) => ({ level, value: exception.values[0]?.value, tags, job }))).toEqual(
    (
      [
        ['warning', 'gone.png is not there', 1],
        ['error', 'gone.png is not there', 2],
        // Discarded: its first attempt is its last.
        ['error', 'notes.txt is no picture', 1],
      ] as const
    ).map(([level, value, attempt]) => ({
      level,
      value,
      tags: { 'job.name': 'resize', 'job.queue': 'default' },
      job: { id: expect.any(String), attempt, maxAttempts: 2 },
    })),
  )
  const [request] = spans.filter(({ name }) => name === 'POST /pictures')
  const enqueues = spans.filter(({ name }) => name === 'enqueue resize')
  const runs = spans.filter(({ name }) => name === 'run resize')
  expect(enqueues.map((span) => span.parent_span_id)).toEqual([request?.span_id, request?.span_id, request?.span_id])
  // Two runs of each job, and one of the discarded one; those that failed are the events', in the same trace.
  expect(runs.map(({ parent_span_id }) => enqueues.findIndex(({ span_id }) => span_id === parent_span_id)).toSorted()).toEqual([
    0, 0, 1, 1, 2,
  ])
  expect(
    runs
      .filter(({ status }) => status === 'error')
      .map(({ span_id }) => span_id)
      .toSorted(),
  ).toEqual(events.map(({ contexts: { trace } }) => trace.span_id).toSorted())
  expect(new Set([...spans.map(({ trace_id }) => trace_id), ...events.map(({ contexts: { trace } }) => trace.trace_id)]).size).toBe(1)
})

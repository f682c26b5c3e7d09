// T6: a worker's process of its own answers probes.
import { expect, test } from 'vitest'
import { HANDLERS, Place } from './millrace.ts'

const LONG = 300_000

async function statusOf(url: string): Promise<readonly [status: number, body: unknown]> {
  const response = await fetch(url)
  return [response.status, await response.json()]
}

test('it lives and is ready; while it drains it lives, and is not ready', { timeout: LONG }, async () => {
  const place = new Place()
  await place.serve()
  const worker = place.startHere('worker', 'start', '--handlers', HANDLERS, '--health-port', '0', '--health-host', '127.0.0.1')
  await worker.said(/is ready/)
  const [, url] = /health: (http:\S+)\/healthz/.exec(worker.stderr) as RegExpExecArray
  expect(await statusOf(`${url}/healthz`)).toEqual([200, { status: 'ok' }])
  expect(await statusOf(`${url}/readyz?verbose`)).toEqual([200, { status: 'ready' }])
  expect((await statusOf(`${url}/`))[0]).toBe(404)

  const port = new URL(url as string).port
  const second = await place.run('worker', 'start', '--handlers', HANDLERS, '--health-port', port)
  expect(second).toMatchObject({
    code: 5,
    stderr: expect.stringMatching(/another server listens at 127\.0\.0\.1:\d+.*--health-port.*ADDRESS_IN_USE/),
  })

  await place.ok('enqueue', 'gate', JSON.stringify({ begun: place.path('begun'), open: place.path('open') }))
  await place.made('begun')
  worker.signal('SIGTERM')
  await worker.noted(/takes no more jobs/)
  expect(await statusOf(`${url}/readyz`)).toEqual([503, { status: 'not ready', reason: 'it is stopping' }])
  expect(await statusOf(`${url}/healthz`)).toEqual([200, { status: 'ok' }])
  await place.ok('jobs', 'cancel', '--name', 'gate', '--yes')
  expect(await worker.ended).toMatchObject({ code: 0 })
})

test('an engine that is gone: it lives, and is not ready', { timeout: LONG }, async () => {
  const place = new Place()
  const server = await place.serveProcess()
  const worker = place.startHere('worker', 'start', '--handlers', HANDLERS, '--health-port', '0')
  await worker.said(/is ready/)
  const [, url] = /health: (http:\S+)\/healthz/.exec(worker.stderr) as RegExpExecArray
  await server.kill()
  expect(await statusOf(`${url}/healthz`)).toEqual([200, { status: 'ok' }])
  expect((await statusOf(`${url}/readyz`))[0]).toBe(503)
})

// apps/examples/http, as its README says to run it.
import { expect, test } from 'vitest'
import { startProgram } from '../program.ts'
import { temporaryFolder } from '../temporary.ts'

test('jobs come by HTTP, one by one and as lines, and what becomes of them is told', async () => {
  const program = startProgram(new URL('../../apps/examples/http/server.ts', import.meta.url), [temporaryFolder()])
  const base = (await program.said(/^listening on/)).slice('listening on '.length)
  const authorization = `Bearer ${(await program.said(/^token/)).slice('token '.length)}`
  const post = (path: string, body: string, type: string) =>
    fetch(`${base}${path}`, { method: 'POST', headers: { authorization, 'content-type': type, 'idempotency-key': 'once' }, body })

  expect((await fetch(`${base}/v1/jobs`)).status).toBe(401)
  const body = JSON.stringify({ job: 'resize', data: { path: 'a.png' } })
  const first = await post('/v1/jobs', body, 'application/json')
  const { id } = (await first.json()) as { id: string }
  const second = await post('/v1/jobs', body, 'application/json')
  expect([first.status, second.status]).toEqual([201, 200])
  expect(await second.json()).toMatchObject({ id, created: false })

  const events = await fetch(`${base}/v1/events?types=completed&jobId=${id}`, { headers: { authorization } })
  let text = ''
  for await (const part of (events.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    text += part
    if (/event: completed\n.*\n\n/.test(text)) break
  }
  const shown = await fetch(`${base}/v1/jobs/${id}`, { headers: { authorization } })
  expect(await shown.json()).toMatchObject({ state: 'completed', output: { small: 'a.small.png' } })

  const lines = '{"path":"b.png"}\n\n# skipped\n{"path":"c.png"}\n'
  const imported = await post('/v1/jobs:import?name=resize&client=shop', lines, 'application/x-ndjson')
  expect(await imported.json()).toMatchObject({ lines: 4, created: 2, skipped: 2 })
  expect((await fetch(`${base}/docs`)).headers.get('content-type')).toBe('text/html; charset=utf-8')
  await post('/v1/jobs:redrive', '{}', 'application/json')

  program.child.kill('SIGTERM')
  expect(await program.ended).toMatchObject({ code: 0, stderr: '' })
  expect(program.lines.at(-1)).toBe('token: redriveJobs, done')
})

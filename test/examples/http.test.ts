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

test('kill -9 in the middle of an import: sent again with its key, every line is there once', async () => {
  const folder = temporaryFolder()
  const lines = 20_000
  const encoder = new TextEncoder()
  const serve = async () => {
    const program = startProgram(new URL('../../apps/examples/http/server.ts', import.meta.url), [folder])
    const base = (await program.said(/^listening on/)).slice('listening on '.length)
    const authorization = `Bearer ${(await program.said(/^token/)).slice('token '.length)}`
    return {
      program,
      enqueued: async () => ((await (await fetch(`${base}/v1/stats`, { headers: { authorization } })).json()) as Stats).totals.enqueued,
      /** All lines but the last, and then nothing, where it is not to end. */
      send: (whole: boolean) => {
        let line = 0
        const body = new ReadableStream<Uint8Array>({
          pull(controller) {
            if (line >= lines) return controller.close()
            if (!whole && line >= lines - 1) return new Promise(() => {})
            let text = ''
            for (const end = Math.min(line + 500, whole ? lines : lines - 1); line < end; line++) text += `{"line":${line}}\n`
            return controller.enqueue(encoder.encode(text))
          },
        })
        const headers = { authorization, 'content-type': 'application/x-ndjson', 'idempotency-key': 'the file' }
        return fetch(`${base}/v1/jobs:import?name=line`, { method: 'POST', headers, body, duplex: 'half' } as RequestInit)
      },
    }
  }
  const first = await serve()
  const broken = first.send(false).then(
    () => 'answered',
    () => 'broken',
  )
  while ((await first.enqueued()) < 3_000) await new Promise((resolve) => setImmediate(resolve))
  await first.program.kill()
  expect(await broken).toBe('broken')

  const second = await serve()
  const before = await second.enqueued()
  expect(before).toBeGreaterThanOrEqual(3_000)
  expect(before).toBeLessThan(lines)
  const { created, existing } = (await (await second.send(true)).json()) as { created: number; existing: number }
  expect({ created, existing }).toEqual({ created: lines - before, existing: before })
  expect(await second.enqueued()).toBe(lines)
  await second.program.kill()
})

interface Stats {
  readonly totals: { readonly enqueued: number }
}

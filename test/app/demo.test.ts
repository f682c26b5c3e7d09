/** `millrace demo`: a process that serves a dashboard with something to see, and leaves nothing behind. */

import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Place } from './millrace.ts'

interface Sample {
  readonly title: string
  readonly job: string
}
const PAGE = { 'content-type': 'application/json' }

async function ask<Answer>(url: string, body?: unknown): Promise<Answer> {
  const init = body === undefined ? {} : { method: 'POST', headers: PAGE, body: JSON.stringify(body) }
  return (await (await fetch(url, init)).json()) as Answer
}

/** Resolves when the stream has an event of the type. */
async function happened(url: string, type: string): Promise<void> {
  const { body } = await fetch(url)
  let text = ''
  for await (const piece of (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    text += piece
    if (text.includes(`event: ${type}\n`)) return
  }
  throw new Error(`the stream has ended: ${text}`)
}

test('Q7: the demo shows queues, limits, a pause, schedules, flows, workers and errors, without a log-in', async () => {
  const place = new Place()
  const demo = place.startHere('demo', 'start', '--port', '0', '--json')
  const { url, file } = JSON.parse(await demo.said(/"url"/)) as { url: string; file: string }
  expect(await (await fetch(`${url}/`)).text()).toContain('<title>')
  expect(await ask(`${url}/v1/session`)).toMatchObject({ open: true })

  const { queues } = await ask<{ queues: { name: string }[] }>(`${url}/v1/queues`)
  expect(queues.find(({ name }) => name === 'imports')).toMatchObject({ paused: true })
  expect(queues.find(({ name }) => name === 'mail')).toMatchObject({ settings: { concurrencyLimit: 6, rateLimit: { limit: 5 } } })
  const { workers } = await ask<{ workers: { id: string }[] }>(`${url}/v1/workers`)
  expect(workers.map(({ id }) => id).toSorted()).toEqual(['mail-1', 'media-1', 'shop-1'])
  expect((await ask<{ schedules: unknown[] }>(`${url}/v1/schedules`)).schedules).toHaveLength(3)
  expect(await ask(`${url}/v1/stats`)).toMatchObject({ unserved: [{ name: 'rebuild-synonyms' }] })

  // As the buttons of the page do.
  const { samples } = await ask<{ samples: (Sample & { options: object; data: unknown })[] }>(`${url}/v1/info`)
  const [works, fails] = await Promise.all(
    samples.map(
      async ({ job, data, options }) =>
        (await ask<{ id: string }>(`${url}/v1/jobs`, { job, data, options: { ...options, priority: 9 } })).id,
    ),
  )
  await happened(`${url}/v1/events?jobId=${works}`, 'completed')
  await happened(`${url}/v1/events?jobId=${fails}`, 'failed')
  expect(await ask(`${url}/v1/jobs/${works}`)).toMatchObject({ state: 'completed' })
  expect(await ask(`${url}/v1/jobs/${fails}`)).toMatchObject({
    state: 'failed',
    attempts: [{ error: { message: 'failed on purpose, as its data says' } }],
  })

  demo.signal('SIGINT')
  expect(await demo.ended).toMatchObject({ code: 0, stderr: '' })
  expect(existsSync(dirname(file))).toBe(false)
})

test('for people, it says where to look and how to stop; a port that is taken is not asked for', async () => {
  const taken = createServer().listen(7411, '127.0.0.1')
  // Another demo may have it already.
  await Promise.race([once(taken, 'listening'), once(taken, 'error')])
  onTestFinished(() => void taken.close())
  const { code, stdout } = await new Place().run('demo', '--duration', '100ms')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^Open http:\/\/127\.0\.0\.1:(?!7411)\d+ in a browser\. There is no log-in/)
  expect(stdout).toContain('Ctrl-C stops the demo and removes its files.\n')
})

test.each([
  [['--port', '70000'], 'port must be between 0 and 65535, got 70000'],
  [['--rate', '0'], 'rate must be between 0.1 and 100, got 0'],
  [['--seed', '1.5'], 'seed must be'],
])('%j is refused', async (flags, message) => {
  const { code, stderr } = await new Place().run('demo', ...flags)
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
})

test('a port that is asked for and taken: exit code 5', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  onTestFinished(() => void taken.close())
  const { port } = taken.address() as { port: number }
  const { code, stderr } = await new Place().run('demo', '--port', String(port))
  expect([code, stderr]).toEqual([expect.any(Number), expect.stringContaining(`127.0.0.1:${port}`)])
  expect(code).not.toBe(0)
})

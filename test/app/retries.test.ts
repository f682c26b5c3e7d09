/** D3: how often webhooks are tried is the word of their queue, and beneath it that of the configuration. */
import { expect, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { attached, startDaemon } from './daemon.ts'
import { Place } from './millrace.ts'

const DATA = { url: 'https://example.com/' }
const FAST = { type: 'fixed', delay: 7 } as const

test('call, queue, configuration, and what a handler says by itself, in that order', async () => {
  const folder = temporaryFolder()
  const env = {
    MILLRACE_WEBHOOKS_ENABLED: 'true',
    MILLRACE_WEBHOOKS_MAX_ATTEMPTS: '6',
    MILLRACE_EXEC: JSON.stringify({ said: { file: '/bin/true', maxAttempts: 2 }, silent: { file: '/bin/true' } }),
  }
  const daemon = startDaemon(folder, { env })
  const engine = await attached(daemon, folder)
  await engine.queues.configure('two', { defaults: { maxAttempts: 3, backoff: FAST } })
  const later = { delay: '1h' } as const
  const retries = async (name: string, options: { readonly queue?: string; readonly maxAttempts?: number } = {}) => {
    const { id } = await engine.enqueue(name, DATA, { ...later, ...options })
    const job = await engine.get(id)
    return [job?.maxAttempts, job?.backoff]
  }
  const ours = { type: 'exponential', delay: 5_000, factor: 5, maxDelay: 86_400_000, jitter: 0.2 }
  expect(await retries('http', { queue: 'two', maxAttempts: 9 })).toEqual([9, FAST])
  expect(await retries('http', { queue: 'two' })).toEqual([3, FAST])
  expect(await retries('http')).toEqual([6, ours])
  // A command that states its own keeps it; one that does not has the queue's.
  expect(await retries('said', { queue: 'two' })).toEqual([2, FAST])
  expect(await retries('silent', { queue: 'two' })).toEqual([3, FAST])
})

test('config set says what it does not reach', async () => {
  const place = new Place()
  const { code, stderr } = await place.run('config', 'set', 'max-attempts', '5', '--queue', 'x')
  expect([code, stderr]).toEqual([0, expect.stringContaining('handlers and commands that state theirs keep it')])
  const other = await place.run('config', 'set', 'max-length', '5', '--queue', 'x')
  expect([other.code, other.stderr]).toEqual([0, ''])
})

/** D3: how often webhooks are tried is the word of their queue, and beneath it that of the configuration. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineJob, type EnqueueOptions, type Job } from '@millrace/engine'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { attached, startDaemonHere } from './daemon.ts'
import { Place } from './millrace.ts'

const DATA = { url: 'https://example.com/' }
const DAY_MS = 86_400_000
const FAST = { type: 'fixed', delay: 7 } as const

test('call, queue, configuration, and what a handler says by itself, in that order', async () => {
  const folder = temporaryFolder()
  const env = {
    MILLRACE_WEBHOOKS_ENABLED: 'true',
    MILLRACE_WEBHOOKS_MAX_ATTEMPTS: '6',
    MILLRACE_EXEC: JSON.stringify({ said: { file: '/bin/true', maxAttempts: 2 }, silent: { file: '/bin/true' } }),
  }
  const daemon = startDaemonHere(folder, { env })
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

test('[defaults] are for all queues: beneath those of each queue, option by option, and above what webhooks come with', async () => {
  const folder = temporaryFolder()
  writeFileSync(
    join(folder, 'millrace.config.toml'),
    ['[defaults]', 'maxAttempts = 2', 'ttl = "30d"', 'timeout = "7s"', '[queues.two.defaults]', 'maxAttempts = 3', ''].join('\n'),
  )
  const daemon = startDaemonHere(folder, { env: { MILLRACE_WEBHOOKS_ENABLED: 'true' } })
  const engine = await attached(daemon, folder)
  const resolved = async (name: string, options: EnqueueOptions) => {
    const { id } = await engine.enqueue(name, DATA, { delay: '1h', ...options })
    const { maxAttempts, timeout, enqueuedAt, expiresAt } = (await engine.get(id)) as Job
    return [maxAttempts, timeout, expiresAt === undefined ? undefined : expiresAt.getTime() - enqueuedAt.getTime()]
  }
  expect(await resolved('http', {})).toEqual([2, 7_000, 30 * DAY_MS])
  expect(await resolved('any', { queue: 'two' })).toEqual([3, 7_000, 30 * DAY_MS])
  expect(await resolved('any', { maxAttempts: 9, ttl: Number.POSITIVE_INFINITY })).toEqual([9, 7_000, undefined])
  engine.work(
    defineJob({ name: 'own', timeout: '9s', ttl: Number.POSITIVE_INFINITY }).handler(() => {}),
    { queues: ['nobodys'] },
  )
  await expect.poll(() => resolved('own', {})).toEqual([2, 9_000, undefined])
})

test('config set says what it does not reach', async () => {
  const place = new Place()
  const { code, stderr } = await place.run('config', 'set', 'max-attempts', '5', '--queue', 'x')
  expect([code, stderr]).toEqual([0, expect.stringContaining('applies to new jobs whose call and definition do not set it\n')])
  const folder = temporaryFolder()
  const exec = { said: { file: '/bin/true', maxAttempts: 2 }, silent: { file: '/bin/true' } }
  const daemon = startDaemonHere(folder, { env: { MILLRACE_EXEC: JSON.stringify(exec) } })
  await attached(daemon, folder)
  const set = (key: string, value: string) => place.run('config', 'set', key, value, '--file', join(folder, 'millrace.db'))
  expect((await set('max-attempts', '5')).stderr).toMatch(/Set by the definitions of: said\n$/)
  expect((await set('timeout', '5s')).stderr).toMatch(/definition do not set it\n$/)
  const other = await place.run('config', 'set', 'max-length', '5', '--queue', 'x')
  expect([other.code, other.stderr]).toEqual([0, ''])
})

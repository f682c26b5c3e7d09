// As many posts as a hundred connections can send: each that was answered is there once, and memory stays bounded.
import { readFileSync } from 'node:fs'
import autocannon from 'autocannon'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { attached, startDaemon, tokenIn } from './daemon.ts'

const CONNECTIONS = 100
const POSTS = 20_000
/** Above what it has before: responses and jobs under way, and a heap of young objects. 70 on a quiet machine; a busy one collects later. */
const GROWTH_MIB = 300

test('M11: posts of a hundred connections at once', async ({ skip }) => {
  if (process.platform !== 'linux') skip('memory of another process is read from /proc, which only Linux has')
  const folder = temporaryFolder()
  const daemon = startDaemon(folder, { flags: { durability: 'normal', 'log-level': 'info' } })
  const { url } = await daemon.serving
  const pid = daemon.child.pid as number
  const before = rssMib(pid)
  const {
    '2xx': taken,
    non2xx,
    errors,
    timeouts,
  } = await autocannon({
    url: `${url}/v1/jobs`,
    method: 'POST',
    headers: { authorization: `Bearer ${tokenIn(folder)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ job: 'load', data: { text: 'x'.repeat(200) } }),
    connections: CONNECTIONS,
    amount: POSTS,
    timeout: 60,
  })
  expect({ taken, non2xx, errors, timeouts }).toEqual({ taken: POSTS, non2xx: 0, errors: 0, timeouts: 0 })
  expect(peakMib(pid) - before).toBeLessThan(GROWTH_MIB)
  const engine = await attached(daemon, folder)
  expect((await engine.stats()).states).toMatchObject({ waiting: POSTS })
  daemon.child.kill('SIGTERM')
  expect((await daemon.ended).code).toBe(0)
})

function rssMib(pid: number): number {
  return fieldMib(pid, 'VmRSS')
}

function peakMib(pid: number): number {
  return fieldMib(pid, 'VmHWM')
}

function fieldMib(pid: number, field: string): number {
  const [, kib] = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kib) / 1_024
}

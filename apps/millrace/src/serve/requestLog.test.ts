import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { createLogger, type LogOptions } from '../log/logger.ts'
import { loggedFetch } from './requestLog.ts'

const LEVELS: readonly LogOptions['level'][] = ['trace', 'debug', 'info', 'warn', 'error', 'silent']

/** The lines that a level writes about requests and of each level of the logger. */
async function linesAt(level: LogOptions['level']): Promise<readonly Record<string, unknown>[]> {
  const written: string[] = []
  const out = new Writable({ write: (chunk, _encoding, done) => done(void written.push(`${chunk}`)) }) as unknown as NodeJS.WriteStream
  const logger = createLogger({ level, format: 'json', redact: [] }, out)
  const routeOf = ({ url }: Request) => (url.includes('/v1/tokens/') ? '/v1/tokens/{id}' : undefined)
  const fetch = loggedFetch(async () => new Response(null, { status: 204 }), routeOf, level, logger)
  await fetch(new Request('http://localhost/v1/tokens/mr_a-token?secret=1', { method: 'DELETE' }), {})
  await fetch(new Request('http://localhost/mr_a-token'), {})
  logger.info('info')
  logger.warn('warn')
  logger.error('error')
  return written.map((line) => JSON.parse(line) as Record<string, unknown>)
}

test('a level below info says something: each request, by its route and without what its path or query holds', async () => {
  const lines = await linesAt('debug')
  expect(lines.slice(0, 2)).toMatchObject([
    { level: 20, msg: 'HTTP request', method: 'DELETE', route: '/v1/tokens/{id}', status: 204, ms: expect.any(Number) },
    { level: 20, msg: 'HTTP request', method: 'GET', route: 'unknown', status: 204 },
  ])
  expect(JSON.stringify(lines)).not.toMatch(/mr_a-token|secret/)
})

test('every level but trace writes less than the one before', async () => {
  const counts = await Promise.all(LEVELS.map(async (level) => (await linesAt(level)).length))
  expect(counts).toEqual([5, 5, 3, 2, 1, 0])
})

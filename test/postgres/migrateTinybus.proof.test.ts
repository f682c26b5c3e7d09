// apps/examples/migrate/tinybus: the program of docs/migrate/small-queues.md on a real Postgres.
import { expect } from 'vitest'
import { startMoved } from '../examples/migrate.ts'
import { durableServer, test } from './test.ts'

test('a delay, a retry and a dead job, as tinybus counts them', async ({ postgres: { schema } }) => {
  const program = startMoved('tinybus/after.ts', { DATABASE_URL: await durableServer(), SCHEMA: schema })
  expect(await program.ended).toEqual({ code: 0, signal: null, stderr: '' })
  expect(program.lines).toEqual([
    'sent to ada at attempt 1',
    'sent to flaky at attempt 2',
    'dead: no such address',
    'ready: 0, delayed: 0, in flight: 0, dead: 1',
  ])
})

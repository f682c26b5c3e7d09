// 39: time, chance and timers each enter in one named file; all else takes them as arguments.
import { describe, expect, test } from 'vitest'
import { placesOf, SHIPPED, SOURCES } from './sources.ts'

const CLOCKS: Readonly<Record<string, string | undefined>> = {
  core: undefined,
  sql: undefined,
  sqlite: undefined,
  postgres: undefined,
  wire: undefined,
  otel: undefined,
  nestjs: undefined,
  fastify: undefined,
  exec: undefined,
  import: undefined,
  worker: 'packages/worker/src/clock.ts',
  client: 'packages/client/src/clock.ts',
  engine: 'packages/engine/src/clock.ts',
  remote: 'packages/remote/src/clock.ts',
  outbox: 'packages/outbox/src/clock.ts',
  http: 'packages/http/src/clock.ts',
  webhooks: 'packages/webhooks/src/clock.ts',
}

/** `setImmediate` is no clock: it lets others have the thread. */
const AMBIENT: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['Date.now', /\bDate\s*\.\s*now\b/],
  ['new Date() without a time', /\bnew\s+Date\s*(?:\(\s*\)|(?!\s*\())/],
  ['Date() as a function', /(?<!new\s)(?<![\w.])Date\s*\(\s*\)/],
  ['performance.now', /\bperformance\s*\.\s*(?:now|timeOrigin)\b/],
  ['hrtime', /\bhrtime\b/],
  ['Math.random', /\bMath\s*\.\s*random\b/],
  ['random ids and bytes', /\b(?:randomUUID|randomBytes|randomInt|getRandomValues|randomFillSync)\b/],
  ['timers', /\b(?:setTimeout|setInterval)\b/],
  ['node:timers', /['"]node:timers(?:\/promises)?['"]/],
  ['AbortSignal.timeout', /\bAbortSignal\s*\.\s*timeout\b/],
]

test.each(AMBIENT)('%s only in a clock', (_what, pattern) => {
  const wrong = SHIPPED.filter((source) => source.path !== CLOCKS[source.package]).flatMap((source) => placesOf(source, pattern))
  expect(wrong).toEqual([])
})

describe('the clocks', () => {
  test('every package that is shipped says which file is its clock', () => {
    expect([...new Set(SHIPPED.map((source) => source.package))].sort()).toEqual(Object.keys(CLOCKS).sort())
  })

  test('a clock that is there is used, and small', () => {
    for (const path of Object.values(CLOCKS)) {
      const source = SOURCES.find((candidate) => candidate.path === path)
      if (source === undefined) continue
      expect(
        AMBIENT.some(([, pattern]) => pattern.test(source.code)),
        `${path} has no clock in it`,
      ).toBe(true)
      expect(source.text.split('\n').length, path).toBeLessThan(60)
    }
  })
})

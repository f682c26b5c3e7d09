// SQL has one address, and says the same thing whenever it runs.
import { expect, test } from 'vitest'
import { placesOf, SHIPPED, SOURCES } from './sources.ts'

const stringsOf = (code: string) => [...code.matchAll(/`[^`]*`|'[^'\n]*'/g)].map(([text]) => text)

const STATEMENT =
  /\b(?:SELECT\s[^'"`]*\sFROM\s|INSERT\s+(?:OR\s+\w+\s+)?INTO\s|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s|CREATE\s+(?:TABLE|INDEX|UNIQUE|VIEW|TRIGGER)\s|ALTER\s+TABLE\s|DROP\s+TABLE\s|PRAGMA\s+\w|BEGIN\s+(?:IMMEDIATE|EXCLUSIVE|DEFERRED)\b|VACUUM\s+INTO\b)/

const STORES = ['sqlite', 'postgres']
/** The packages of stores, and what they share. */
const HOMES = ['sql', ...STORES]

const ELSEWHERE = new Set([
  // Where SQLite is a lock, and nothing else.
  'packages/remote/src/journal/lock.ts',
  // One table in the app's own database.
  'packages/outbox/src/table.ts',
  // Tokens, endpoints and the audit of the daemon, in a file of their own: docs/decisions/0020.
  'apps/millrace/src/control/database.ts',
  // The tables of other queues, which it reads.
  'packages/import/src/postgres/graphileWorker.ts',
  'packages/import/src/postgres/pgBoss.ts',
  'packages/import/src/postgres/snapshot.ts',
])

test('SQL lives in the packages of stores alone', () => {
  const wrong = SOURCES.filter((source) => !HOMES.includes(source.package) && !source.testing && !ELSEWHERE.has(source.path)).flatMap(
    (source) => placesOf(source, STATEMENT),
  )
  expect(wrong).toEqual([])
})

test.each(STORES)('and there it is found: %s', (store) => {
  expect(SHIPPED.filter((source) => source.package === store && STATEMENT.test(source.code)).length).toBeGreaterThan(5)
})

test.each([
  ['chance', /\brandom(?:blob)?\s*\(\s*\d*\s*\)/i],
  ['the clock', /\bCURRENT_(?:TIMESTAMP|TIME|DATE)\b|\b(?:unixepoch|julianday|datetime|strftime)\s*\(|'now'/i],
])('no SQL asks for %s', (_what, pattern) => {
  const wrong = SHIPPED.filter((source) => HOMES.includes(source.package)).flatMap(({ path, code }) =>
    stringsOf(code)
      .filter((text) => pattern.test(text))
      .map((text) => `${path}: ${text}`),
  )
  expect(wrong).toEqual([])
})

test('every SELECT of a slice says in which order', () => {
  const wrong = SHIPPED.filter((source) => HOMES.includes(source.package)).flatMap((source) =>
    stringsOf(source.code)
      // A template may end in an order that has a name of its own.
      .filter((text) => /\bSELECT\b/.test(text) && /\bLIMIT\b/.test(text) && !/\bORDER BY\b|[$][{]order[}]/.test(text))
      .map((text) => `${source.path}: ${text.slice(0, 100)}`),
  )
  expect(wrong).toEqual([])
})

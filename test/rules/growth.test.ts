// Each table of a store says what deletes its rows, or why they cannot grow without end.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CREATE_SCHEMA } from '../../packages/postgres/src/schema.ts'
import { SCHEMA } from '../../packages/sqlite/src/schema.ts'

const STORES = { sqlite: SCHEMA, postgres: CREATE_SCHEMA.join(';\n') }

/** Files of `write/` that delete its rows, in the one store or the other. */
type Ending = { readonly in: readonly string[] } | { readonly because: string }

const ONE_ROW = { because: 'it has one row' }
const PLACE = { in: ['../tables/places.ts'] }

const TABLES: Readonly<Record<string, Ending>> = {
  meta: ONE_ROW,
  running: ONE_ROW,
  owner: ONE_ROW,
  migration: { because: 'each version of the schema adds one row' },
  queue: { because: 'maxQueues bounds those that exist; each deleted queue leaves one row, because the journal names its lanes by number' },
  lane: { in: ['lanes.ts', 'queues-gone.ts'] },
  queue_settings: { in: ['queues.ts', 'queues-gone.ts'] },
  pause_end: { in: ['queues.ts'] },
  paused_key: { in: ['queues.ts'] },
  gate: { in: ['queues.ts'] },
  key_bucket: { in: ['queues.ts'] },
  key_turn: { in: ['queues.ts'] },
  job: { in: ['jobs.ts', 'delete-jobs.ts'] },
  attempt: { in: ['jobs.ts', 'delete-jobs.ts'] },
  log: { in: ['jobs.ts', 'delete-jobs.ts'] },
  step: { in: ['jobs.ts', 'delete-jobs.ts'] },
  message: { in: ['jobs.ts', 'delete-jobs.ts'] },
  tag: { in: ['jobs.ts', 'delete-jobs.ts'] },
  unique_key: { in: ['jobs.ts', 'delete-jobs.ts'] },
  waiting: PLACE,
  parked: PLACE,
  strict: PLACE,
  scheduled: PLACE,
  expiry: PLACE,
  failed: PLACE,
  arrival: PLACE,
  finished: { in: ['finished.ts'] },
  kept: { in: ['finished.ts'] },
  kept_count: { in: ['finished.ts'] },
  export: { in: ['cursors.ts', 'exports.ts'] },
  idempotency: { in: ['prune.ts'] },
  journal: { in: ['prune.ts'] },
  session: { because: 'each start of a worker adds one small row, which the attempts of its jobs name for as long as one of them is kept' },
  source: { because: 'each journal of a producer adds one small row; it may send an entry again after any time, and the row refuses it' },
  failure: { in: ['prune.ts'] },
  definition: { in: ['sessions.ts'] },
  schedule: { in: ['schedules.ts'] },
  flow_gate: { in: ['flows.ts'] },
  flow_edge: { in: ['flows.ts'] },
  flow_due: { in: ['flows.ts'] },
  flow_end: { in: ['flows.ts'] },
  flow_gone: { in: ['flows.ts'] },
  history: { in: ['history.ts'] },
  frame: { in: ['../mailbox/mailbox.ts'] },
  inbox: { in: ['../inbox/write.ts'] },
  inbox_refused: { because: 'its rows are for the application, which deletes them once it has seen them' },
}

const tablesOf = (schema: string) =>
  [...schema.matchAll(/CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?(\w+)/g)].map(([, name]) => name as string)

/** True if the text deletes from the table, by its name or by one of a list of names. */
function deletes(text: string, table: string): boolean {
  return (
    new RegExp(`DELETE FROM (\\$\\{\\w+\\})?${table}\\b`).test(text) ||
    (text.includes('DELETE FROM ${') && new RegExp(`\\b${table}\\b`).test(text))
  )
}

describe.each(Object.entries(STORES))('%s', (store, schema) => {
  test.each(tablesOf(schema))('the rows of table %s have an end', (table) => {
    const ending = TABLES[table]
    if (ending === undefined) throw new Error(`add table ${table} of ${store} to TABLES: what deletes its rows, or why are they bounded?`)
    if ('because' in ending) return
    const files = ending.in.map((file) => join(`packages/${store}/src/write`, file)).filter((file) => existsSync(file))
    expect(files.filter((file) => deletes(readFileSync(file, 'utf8'), table))).not.toEqual([])
  })
})

test('each entry is about a table of a store', () => {
  const known = Object.values(STORES).flatMap(tablesOf)
  expect(Object.keys(TABLES).filter((table) => !known.includes(table))).toEqual([])
})

// Postgres agrees with the memory store, whatever turns are taken.
import { LIMITS } from '@millrace/core'
import { openStore } from '@millrace/postgres'
import pg from 'pg'
import { afterAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { utf8Bytes } from '../../packages/core/src/options/utf8.ts'
import { MemoryStore } from '../../packages/core/src/testing/memoryStore.ts'
import { useSmallLimits } from '../../packages/core/src/testing/smallLimits.ts'
import { Bridge } from '../../packages/postgres/src/bridge/bridge.ts'
import { STRIDE } from '../../packages/testkit/src/testing/runs.ts'
import { storeAgreement } from '../../packages/testkit/src/testing/storeAgreement.ts'
import { keptBridge } from './keptBridge.ts'
import { keptSchema } from './keptSchema.ts'
import { fill, isPlanned, planAs, planOf, wholeScans } from './plans.ts'
import { newSchema, storeOptions, type TestSchema } from './test.ts'

// A slice that looks at few rows finds as many as its place lets it.
useSmallLimits({ walkRows: LIMITS.walkRows, nameUnusedMs: 20 })

/** The number of random histories in `pnpm proof`; `pnpm test` tries a quarter of them. */
const HISTORIES = Number(process.env['HISTORIES'] ?? 9)
/** 10,000,000 jobs take some minutes. */
const ROWS = Number(process.env['PLAN_ROWS'] ?? (STRIDE === 1 || process.env['TEST_ALL'] !== undefined ? 100_000 : 20_000))

/** The texts of all statements of the histories. */
const said = new Set<string>()
let isListening = false
afterAll(() => void vi.restoreAllMocks())
for (const kind of ['run', 'transact'] as const) {
  const { [kind]: send } = Bridge.prototype
  vi.spyOn(Bridge.prototype, kind).mockImplementation(function (this: Bridge, statements) {
    if (isListening) for (const { text } of statements) said.add(text)
    return send.call(this, statements)
  })
}

let kept: () => TestSchema
let next: () => TestSchema

beforeEach((context) => {
  kept = () => keptSchema(context)
  next = () => newSchema(context)
})

storeAgreement(
  'Postgres and memory',
  () => {
    const options = storeOptions(kept())
    isListening = true
    const postgres = openStore(options, undefined, keptBridge)
    return {
      stores: [new MemoryStore(postgres.node, utf8Bytes), postgres],
      close: () => {
        isListening = false
        postgres.close()
      },
    }
  },
  HISTORIES,
)

/** Tables that do not grow with jobs. `failure` has a bound, `kept_count` a row for a queue. */
const SMALL = new Set(
  'meta owner queue lane queue_settings definition export source migration running schedule failure history inbox kept_count'.split(' '),
)

/** Tables that are read whole when a schema is opened: keys that hold jobs back, ends of pauses, and present sessions by an index of their own. */
const LOADED =
  /^Index Scan of (?:gate: SELECT id, lane|key_bucket: SELECT queue|pause_end: SELECT queue|session: SELECT id, uuid.* WHERE presence <> 'gone')/

test(`no statement of these turns looks through a table of ${ROWS} jobs`, { timeout: 1_200_000 }, async ({ skip }) => {
  const { url, schema } = next()
  openStore(storeOptions({ url, schema })).close()
  const client = new pg.Client({ connectionString: url })
  onTestFinished(() => client.end())
  await client.connect()
  const { rows } = await client.query<{ version: number }>("SELECT current_setting('server_version_num')::int AS version")
  if ((rows[0]?.version ?? 0) < 160_000) return skip('Postgres 15 has no EXPLAIN (GENERIC_PLAN)')
  await planAs(client, schema)
  await fill(client, ROWS)
  const texts = [...said].filter(isPlanned)
  expect(texts.length).toBeGreaterThan(50)
  const scans: string[] = []
  for (const text of texts)
    scans.push(
      ...wholeScans(await planOf(client, text)).flatMap((scan) => (SMALL.has(scan.split(' of ')[1] as string) ? [] : [`${scan}: ${text}`])),
    )
  expect(scans.filter((scan) => !LOADED.test(scan))).toEqual([])
})

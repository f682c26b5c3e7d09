// The right column of each table of docs/migrate is run: an engine accepts what the reader is told to write.
import { afterAll, describe, expect, test } from 'vitest'
import { type Row, TABLES } from './guides.ts'
import { NOT_RUN, waysOf } from './guideWays.ts'
import { GuideWorld } from './guideWorld.ts'

const world = new GuideWorld()
afterAll(() => world.close())

const isNotRun = ({ page = '', code }: (typeof NOT_RUN)[number], { place }: Row, text: string): boolean =>
  place.startsWith(page) && (typeof code === 'string' ? code === text : code.test(text))

/** Returns why no way of the table accepts the code; undefined if one does. */
async function faultOf(ways: ReturnType<typeof waysOf>, code: string): Promise<string | undefined> {
  const faults: string[] = []
  for (const [name, way] of ways) {
    const fault = await way(code).then(
      () => undefined,
      (error: Error) => `${name}: ${error.message}`,
    )
    if (fault === undefined) return undefined
    faults.push(fault)
  }
  return faults.map((fault) => fault.split('\n')[0]?.slice(0, 160)).join('\n    ')
}

describe.each(TABLES)('$page, $heading: $theirs', (table) => {
  test('its right column runs', async () => {
    const faults: string[] = []
    for (const row of table.rows)
      for (const code of row.codes) {
        if (NOT_RUN.some((each) => isNotRun(each, row, code))) continue
        const fault = await faultOf(waysOf(world, table, row, code), code)
        if (fault !== undefined) faults.push(`${row.place}: ${code}: ${fault.split('\n').join(' | ')}`)
      }
    expect(faults.join('\n')).toBe('')
  })
})

const CODES = TABLES.flatMap(({ rows }) => rows.flatMap((row) => row.codes.map((code) => ({ row, code }))))
const UNRUN = NOT_RUN.map((each) => {
  const found = CODES.filter(({ row, code }) => isNotRun(each, row, code))
  return { found, what: found.map(({ row, code }) => `${row.place} ${code}`).join(', '), because: each.because }
})

test.each(UNRUN)('not run: $what: $because', ({ found }) => {
  expect(found.length).toBeGreaterThan(0)
})

test('few codes are not run', () => {
  expect(CODES.length).toBeGreaterThan(600)
  expect(UNRUN.flatMap(({ found }) => found).length).toBeLessThan(40)
})

test.each([
  ['Add jobs', 'Agenda', 'unique: { by: [1] }'],
  ['Add jobs', 'Agenda', 'enqueu(job, data)'],
  ['Limits', 'option of a worker', 'concurency'],
  ['In the processor', 'BullMQ', "log('loud', 'text')"],
  ['In the processor', 'BullMQ', 'job.attmpt.at'],
  ['Events', 'BullMQ', 'retryed'],
  ['Calls', 'state in BullMQ', 'wating'],
  ['Calls', 'error in BullMQ', 'NonRetryable'],
  ['Flow', 'option of a child in BullMQ', "'failed'"],
  ['A repeating job', 'BullMQ', "catchUp: 'last'"],
  ['From mininq', 'mininq', 'POST /v1/job'],
  ['From mininq', 'mininq', 'options.maxAttempt: 4'],
  ['From QueueCTL', 'QueueCTL', 'jobs lits --state waiting'],
  ['From QueueCTL', 'QueueCTL', '--run-att'],
  ['From tinybus', 'tinybus', 'MILLRACE_POSTGRS'],
])('%s, %s: a wrong %s is seen', async (heading, theirs, code) => {
  const table = { page: '', heading, theirs, rows: [] }
  expect(await faultOf(waysOf(world, table, { place: '', left: '', cell: '', codes: [code] }, code), code)).toBeDefined()
})

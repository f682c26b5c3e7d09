// Jobs by the thousand: from stdin, from files and back, in flat memory, and what becomes of lines that cannot be read.
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Place } from './millrace.ts'

const LONG = 300_000

function* lines(count: number, text: string): Generator<string> {
  for (let at = 0; at < count; at += 500)
    yield Array.from({ length: Math.min(500, count - at) }, (_, index) => `{"n":${at + index},"text":"${text}"}\n`).join('')
}

test('100,000 lines from stdin, each a job; a heap that could not hold them is enough', { timeout: LONG }, async () => {
  const place = new Place()
  await place.serve()
  // 100,000 times 600 bytes, and the jobs that they become, are more than the heap that it gets.
  place.env['NODE_OPTIONS'] = '--max-old-space-size=48'
  async function* input() {
    yield* lines(100_000, 'x'.repeat(600))
  }
  expect(await place.feed(input(), 'enqueue', 'big', '-')).toMatchObject({ code: 0, stdout: '100,000 jobs enqueued\n', stderr: '' })
  delete place.env['NODE_OPTIONS']
  expect(await place.okJson('stats')).toMatchObject({ states: { waiting: 100_000 } })
  expect(await place.okJson('jobs', 'list', '--limit', '1')).toMatchObject({ jobs: [{ data: { n: 99_999 } }] })
})

test('what comes slowly is enqueued as it comes', { timeout: LONG }, async () => {
  const place = new Place()
  await place.serve()
  const program = place.start('enqueue', 'slow', '-', '--queue', 'q')
  program.child.stdin.write('{"first":true}\n')
  const events = place.start('events', '-f', '--after', '0', '--name', 'slow', '--limit', '1', '--json')
  expect(JSON.parse(await events.said(/./))).toMatchObject({ type: 'enqueued', queue: 'q' })
  program.child.stdin.end('{"second":')
  expect(await program.ended).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^millrace: line 2: the line is not JSON: .*; 1 job enqueued before it ended \(FAILED\)\n$/),
  })
  expect(await place.okJson('stats')).toMatchObject({ states: { waiting: 1 } })
})

test('a prefix for keys makes it safe to say all again', { timeout: LONG }, async () => {
  const place = new Place()
  await place.serve()
  const args = ['enqueue', 'once', '-', '--idempotency-prefix', 'lot-7:', '--json'] as const
  expect((await place.feed('1\n2\n\n3\n', ...args)).json).toEqual({ enqueued: 3, existing: 0 })
  expect((await place.feed('1\n2\n\n3\n4\n', ...args)).json).toEqual({ enqueued: 1, existing: 3 })
  expect(await place.run('enqueue', 'once', '-', '--idempotency-key', 'k')).toMatchObject({ code: 2 })
})

test('import: data, texts, whole jobs; lines that are refused are told by number, and the rest goes in', { timeout: LONG }, async () => {
  const place = new Place()
  await place.serve()
  writeFileSync(place.path('data.ndjson'), '{"to":1}\n{"to":2}\n')
  expect(await place.ok('import', place.path('data.ndjson'), '--name', 'mail', '--queue', 'out', '--tag', 'lot')).toBe('2 jobs enqueued\n')
  expect((await place.feed('# a comment\nplain text\n\n', 'import', '-', '--name', 'plain', '--plain', '--json')).json).toMatchObject({
    enqueued: 1,
    refused: 0,
  })
  expect(await place.okJson('jobs', 'list', '--name', 'plain')).toMatchObject({ jobs: [{ data: 'plain text' }] })
  const mixed = [
    '{"name":"good","data":1,"options":{"priority":3}}',
    '{"name":"bad","options":{"priority":"high"}}',
    'no json',
    '{"name":"bad","colour":"red"}',
    '# a comment',
    '{"name":"good","data":2}',
  ].join('\n')
  const result = await place.feed(mixed, 'import', '-', '--json')
  expect(result.code).toBe(1)
  expect(result.json).toMatchObject({
    enqueued: 2,
    existing: 0,
    refused: 3,
    errors: [
      { line: 2, code: 'OPTION_TYPE', message: expect.stringContaining('priority') },
      { line: 3, code: 'USAGE' },
      { line: 4, code: 'USAGE', message: expect.stringContaining('"colour"') },
    ],
  })
  expect(await place.okJson('jobs', 'list', '--name', 'good')).toMatchObject({ jobs: [{ data: 2 }, { data: 1, priority: 3 }] })
  expect(await place.okJson('jobs', 'list', '--name', 'bad')).toMatchObject({ jobs: [] })
})

test('a line that is no UTF-8 is refused by its number, and the others go in', { timeout: LONG }, async () => {
  const place = new Place()
  writeFileSync(place.path('data.ndjson'), Buffer.concat([Buffer.from('"é"\n"'), Buffer.from([0xe9]), Buffer.from('"\n"last"')]))
  const result = await place.run('import', place.path('data.ndjson'), '--name', 'mail', '--json')
  expect(result.code).toBe(1)
  expect(result.json).toMatchObject({ enqueued: 2, refused: 1, errors: [{ line: 2, code: 'USAGE', message: 'the line is not UTF-8' }] })
  expect(await place.okJson('jobs', 'list')).toMatchObject({ jobs: [{ data: 'last' }, { data: 'é' }] })
})

test('export, and import into another file: the same jobs, to be done anew', { timeout: LONG }, async () => {
  const place = new Place()
  await place.ok(
    'enqueue',
    'mail',
    '{"a":[1]}',
    '--queue',
    'out',
    '--priority',
    '4',
    '--tag',
    't',
    '--meta',
    '{"m":1}',
    '--backoff',
    'fixed:7s',
    '--timeout',
    'none',
  )
  await place.ok('enqueue', 'later', '--run-at', '2040-01-01T00:00:00Z', '--concurrency-key', 'k', '--summary', 'To Ada')
  const exported = await place.ok('export')
  expect(await place.ok('export', '--queue', 'out', '--state', 'waiting')).toBe(`${exported.split('\n')[0]}\n`)
  writeFileSync(place.path('jobs.ndjson'), exported)
  const other = new Place()
  expect(await other.okJson('import', place.path('jobs.ndjson'))).toMatchObject({ enqueued: 2, refused: 0 })
  const [mail, later] = (await other.okJson('jobs', 'list', '--order', 'oldest'))['jobs'] as Record<string, unknown>[]
  expect(mail).toMatchObject({
    name: 'mail',
    data: { a: [1] },
    queue: 'out',
    priority: 4,
    tags: ['t'],
    meta: { m: 1 },
    backoff: { type: 'fixed', delay: 7_000 },
    timeout: null,
  })
  const texts = { concurrencyKey: 'k', summary: 'To Ada' }
  expect(later).toMatchObject({ name: 'later', state: 'scheduled', runAt: '2040-01-01T00:00:00.000Z', ...texts })
  expect(readFileSync(place.path('jobs.ndjson'), 'utf8')).toBe(exported)
})

test('import of a file is read as fast as it is enqueued', { timeout: LONG }, async () => {
  const place = new Place()
  writeFileSync(place.path('many.ndjson'), [...lines(5_000, 'y')].join(''))
  expect(await place.okJson('import', place.path('many.ndjson'), '--name', 'many')).toMatchObject({ enqueued: 5_000 })
})

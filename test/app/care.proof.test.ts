// The care of a file: doctor and migrate, on sound, broken, open and old ones.
import { chmodSync, linkSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import BetterSqlite3 from 'better-sqlite3'
import { expect, test } from 'vitest'
import { Place } from './millrace.ts'

const LONG = 300_000

interface Check {
  readonly check: string
  readonly verdict: string
  readonly found: string
}

const checksOf = (answer: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries((answer['checks'] as Check[]).map(({ check, verdict }) => [check, verdict]))

test('doctor: a sound file, closed and open', { timeout: LONG }, async () => {
  const place = new Place()
  await place.ok('enqueue', 'mail')
  expect(await place.ok('doctor')).toMatch(
    /^CHECK +FOUND\nschema +ok +version \d+\nowner +ok +no process has it open; opened 1 times\n[\s\S]*^counters +ok/m,
  )
  const file = place.file
  const server = await place.serveProcess()
  const open = await place.okJson('doctor', '--file', file)
  expect(open).toMatchObject({ file, healthy: true, facts: { schemaVersion: expect.any(Number), createdAt: expect.stringMatching(/Z$/) } })
  expect(new Set(Object.values(checksOf(open)))).toEqual(new Set(['ok']))
  expect((open['checks'] as Check[]).find(({ check }) => check === 'owner')?.found).toContain(`process ${server.child.pid} on`)
})

test('doctor: a file that every user can read, and one that was emptied', { timeout: LONG }, async ({ skip }) => {
  if (process.platform === 'win32') skip('Windows has no modes')
  const place = new Place()
  await place.ok('enqueue', 'mail')
  expect(await place.ok('doctor')).toMatch(/^access +ok +its owner alone: mode 0600$/m)
  chmodSync(place.file, 0o644)
  expect(await place.ok('doctor')).toMatch(/^access +warning +other users may read or write it: mode 0644$[\s\S]*^access: .* chmod 600/m)
  writeFileSync(place.file, '')
  expect(await place.run('doctor')).toMatchObject({ stdout: '', stderr: expect.stringMatching(/was emptied.*Restore a backup/) })
})

test('doctor: a backup, before anybody opens it', { timeout: LONG }, async () => {
  const place = new Place()
  await place.ok('enqueue', 'mail')
  await place.ok('backup', place.path('copy.db'))
  expect(await place.okJson('doctor', '--file', place.path('copy.db'))).toMatchObject({ healthy: true })
})

test('doctor: counters that are not the rows', { timeout: LONG }, async () => {
  const place = new Place()
  await place.ok('enqueue', 'mail', '--queue', 'out')
  const db = new BetterSqlite3(place.file)
  db.prepare('UPDATE lane SET waiting = 9').run()
  db.close()
  const answer = await place.run('doctor', '--json')
  expect(answer).toMatchObject({ code: 1, stderr: expect.stringContaining('1 check found a problem') })
  expect(answer.json).toMatchObject({ healthy: false })
  expect(checksOf(answer.json)).toMatchObject({ counters: 'problem', integrity: 'ok', lists: 'ok' })
  expect((await place.run('doctor')).stdout).toMatch(/^counters +problem +queue out, jobs mail: counted 9 waiting, found 1$/m)
})

test('doctor: settings of another program, a log that nobody folds in, a clock that was wrong', { timeout: LONG }, async () => {
  const place = new Place()
  await place.ok('enqueue', 'mail')
  const db = new BetterSqlite3(place.file)
  db.prepare('UPDATE journal SET at = ?').run(Date.now() + 2 * 3_600_000)
  db.close()
  // Of nothing but zeros, which SQLite passes over.
  const log = `${place.file}-wal`
  writeFileSync(log, '')
  truncateSync(log, 300 * 2 ** 20)
  const warned = await place.okJson('doctor')
  expect(checksOf(warned)).toMatchObject({ 'write-ahead log': 'warning', clock: 'warning', settings: 'ok', counters: 'ok' })
  expect((warned['checks'] as Check[]).find(({ check }) => check === 'clock')?.found).toMatch(
    /^the last event is \S.* ahead of this clock$/,
  )
  truncateSync(log, 2 ** 30 + 1)
  expect(checksOf((await place.run('doctor', '--json')).json)).toMatchObject({ 'write-ahead log': 'problem' })
  truncateSync(log, 0)

  const other = new BetterSqlite3(place.file)
  other.pragma('journal_mode = delete')
  other.pragma('auto_vacuum = none')
  other.exec('VACUUM')
  other.close()
  const answer = await place.run('doctor', '--json')
  expect(answer).toMatchObject({ code: 1 })
  expect((answer.json['checks'] as Check[]).find(({ verdict }) => verdict === 'problem')).toMatchObject({
    check: 'settings',
    found: expect.stringMatching(/^auto_vacuum is 0, not \d$/),
    remedy: expect.stringContaining('restore a backup'),
  })
})

test('a file from before 0.1.0 is refused by name, whatever reads it, and nothing is done to it', { timeout: LONG }, async () => {
  const place = new Place()
  await place.ok('enqueue', 'mail')
  const db = new BetterSqlite3(place.file)
  db.exec('UPDATE meta SET min_reader = 23, schema_version = 23')
  db.close()
  const before = readFileSync(place.file)
  for (const command of [['doctor'], ['migrate'], ['migrate', '--check'], ['stats'], ['enqueue', 'mail']])
    expect(await place.run(...command)).toMatchObject({
      stdout: '',
      stderr: expect.stringMatching(/has schema 23, of a version before 0\.1\.0/),
    })
  expect(readFileSync(place.file).equals(before)).toBe(true)
})

test('T7: migrate down to the schema that the file has changes nothing', async () => {
  const place = new Place()
  await place.ok('enqueue', 'mail')
  const { known } = await place.okJson('migrate', '--check')
  expect(await place.ok('migrate', 'down', '--to', `${known}`)).toBe(`schema ${known}: nothing to do\n`)
  expect(await place.ok('jobs', 'list')).toContain('mail')
})

test.for([
  [['down'], /down requires --to/],
  [['--to', '24'], /--to requires down/],
  [['up', '--to', '24'], /--to requires down/],
  [['down', '--to', '24', '--check'], /leave it out with down/],
  [['down', '--to', '23'], /--to must be between 24 and \d+, the schema of .*, got 23/],
  [['down', '--to', '99'], /--to must be between 24 and \d+, the schema of .*, got 99/],
  [['down', '--to', 'x'], /--to must be between 24 and \d+, the schema of .*, got x/],
] as const)('T7: migrate %j is refused, and the file stays as it is', async ([args, says]) => {
  const place = new Place()
  await place.ok('enqueue', 'mail')
  const before = readFileSync(place.file)
  expect(await place.run('migrate', ...args)).toMatchObject({ code: 2, stderr: expect.stringMatching(says) })
  expect(readFileSync(place.file).equals(before)).toBe(true)
})

test('T7: migrate down: a file with another name is refused, as its log would be beside that name', { timeout: LONG }, async () => {
  const place = new Place()
  await place.ok('enqueue', 'mail')
  linkSync(place.file, `${place.file}-other`)
  const before = readFileSync(place.file)
  expect(await place.run('migrate', 'down', '--to', '24')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('2 names (hard links)'),
  })
  expect(readFileSync(place.file).equals(before)).toBe(true)
})

test('T5: migrate: a file that is open is of a schema that is current, or is refused', { timeout: LONG }, async () => {
  const place = new Place()
  const file = place.file
  await place.serve()
  expect(await place.ok('migrate', '--file', file)).toMatch(/nothing to do/)
  expect(await place.run('migrate', 'down', '--to', '24', '--file', file)).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('already open'),
  })
  expect(await place.run('migrate')).toMatchObject({ code: 2 })
})

import fs, {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { SCOPES } from '@millrace/core'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Control } from './control.ts'
import { firstToken, tokenFileOf } from './firstToken.ts'
import { SYSTEM } from './surroundings.ts'
import type { TokenOptions } from './tokens.ts'

function fileIn(): string {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-control-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'jobs.db')
}

function open(file = ':memory:', now: () => number = () => 1_000): Control {
  const control = new Control(file, { ...SYSTEM, now })
  onTestFinished(() => control.close())
  return control
}

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

test('a token is told once, does what it allows, and is revoked by its name or its id', () => {
  const control = open()
  const first = control.createToken({ name: 'producer', scopes: ['read', 'enqueue'] })
  const second = control.createToken({ name: 'admin' })
  expect(first.token).toMatch(/^mr_[\w-]{43}$/)
  expect(control.authenticate(first.token)).toEqual({ name: 'producer', scopes: ['enqueue', 'read'] })
  expect(control.authenticate(second.token)).toEqual({ name: 'admin', scopes: ['enqueue', 'work', 'read', 'admin', 'send'] })
  for (const wrong of ['', 'mr_', first.token.slice(0, -1), `${first.token}A`, first.token.toUpperCase()])
    expect(control.authenticate(wrong)).toBeUndefined()
  expect(control.revokeToken('producer')).toMatchObject({ name: 'producer', revokedAt: new Date(1_000) })
  expect(control.authenticate(first.token)).toBeUndefined()
  expect(control.authenticate(second.token)).toMatchObject({ name: 'admin' })
  control.revokeToken(second.view.id)
  expect(control.authenticate(second.token)).toBeUndefined()
  expect(control.listTokens().map(({ name, revokedAt }) => [name, revokedAt !== undefined])).toEqual([
    ['producer', true],
    ['admin', true],
  ])
})

test('a token for work may be bound to names and queues, of which it tells', () => {
  const file = fileIn()
  const control = open(file)
  const bound = control.createToken({ name: 'worker', scopes: ['work', 'read'], names: ['resize', 'a:b/c'], queues: ['media'] })
  const free = control.createToken({ name: 'free' })
  const of = open(file)
  expect(of.authenticate(bound.token)).toEqual({
    name: 'worker',
    scopes: ['work', 'read'],
    names: ['resize', 'a:b/c'],
    queues: ['media'],
  })
  expect(of.authenticate(free.token)).toEqual({ name: 'free', scopes: SCOPES })
  expect(of.listTokens().map(({ names, queues }) => [names, queues])).toEqual([
    [['resize', 'a:b/c'], ['media']],
    [undefined, undefined],
  ])
})

test('a file from before 0.1.0 is refused, and stays as it is', () => {
  const file = fileIn()
  new Control(file, SYSTEM).close()
  const db = new Database(`${file}-control`)
  db.pragma('user_version = 7')
  db.close()
  const refused = expect.objectContaining({
    code: 'SCHEMA_TOO_OLD',
    message: expect.stringContaining('delete it, to start with a new admin token'),
  })
  expect(() => open(file)).toThrow(refused)
  const again = new Database(`${file}-control`)
  expect(again.pragma('user_version', { simple: true })).toBe(7)
  again.close()
})

test('a secret is made when it is first asked for, and is the same from then on, in every process', () => {
  const file = fileIn()
  const [control, other] = [open(file), open(file)]
  const { token } = control.createToken({ name: 'bystander' })
  const secret = Buffer.from(control.secret('session'))
  expect(secret).toHaveLength(32)
  expect(Buffer.from(other.secret('session'))).toEqual(secret)
  expect(Buffer.from(control.secret('another'))).not.toEqual(secret)
  expect(Buffer.from(open(file).secret('session'))).toEqual(secret)
  expect(Buffer.from(open().secret('session'))).not.toEqual(secret)
  expect(control.authenticate(token)).toMatchObject({ name: 'bystander' })
})

test('of two processes that ask for a secret at once, both have that of the first', () => {
  const file = fileIn()
  const first = open(file)
  let asked = 0
  const randomBytes = (count: number) => {
    // Between the look and the write of the other.
    if (asked++ === 0) first.secret('session')
    return SYSTEM.randomBytes(count)
  }
  const second = new Control(file, { ...SYSTEM, randomBytes })
  onTestFinished(() => second.close())
  expect(Buffer.from(second.secret('session'))).toEqual(Buffer.from(first.secret('session')))
  expect(asked).toBe(1)
})

test('a name is of one token in use; after it was revoked it can be given again', () => {
  const control = open()
  control.createToken({ name: 'a' })
  expect(() => control.createToken({ name: 'a' })).toThrow(expect.objectContaining({ code: 'TOKEN_EXISTS' }))
  control.revokeToken('a')
  expect(() => control.revokeToken('a')).toThrow(expect.objectContaining({ code: 'TOKEN_NOT_FOUND' }))
  control.createToken({ name: 'a' })
  expect(control.listTokens()).toHaveLength(2)
})

test.each<[unknown, string]>([
  [{ name: '' }, 'name'],
  [{ name: 'a b' }, 'name'],
  [{ name: 'config' }, 'name'],
  [{ name: 'anyone' }, 'name'],
  [{ name: 'a', scopes: [] }, 'scopes'],
  [{ name: 'a', scopes: ['root'] }, 'scopes'],
  [{ name: 'a', scopes: ['read'], names: ['x'] }, 'names'],
  [{ name: 'a', queues: ['x y'] }, 'queues[0]'],
])('%j is refused', (options, option) => {
  const control = open()
  expect(() => control.createToken(options as TokenOptions)).toThrow(expect.objectContaining({ option }))
  expect(control.listTokens()).toEqual([])
})

test('a use is noted, once a minute', () => {
  let now = 0
  const control = open(':memory:', () => now)
  const { token } = control.createToken({ name: 'a' })
  const bystander = control.createToken({ name: 'b' })
  const used = () => control.listTokens().map(({ lastUsedAt }) => lastUsedAt?.getTime())
  expect(used()).toEqual([undefined, undefined])
  for (const [at, noted] of [
    [5, 5],
    [60_004, 5],
    [60_005, 60_005],
  ] as const) {
    now = at
    control.authenticate(token)
    expect(used()).toEqual([noted, undefined])
  }
  expect(bystander.view.lastUsedAt).toBeUndefined()
})

test('the file and what SQLite puts beside it are their owner’s alone, and hold no token', () => {
  const file = fileIn()
  const control = open(file)
  const { token } = control.createToken({ name: 'a' })
  for (const end of ['-control', '-control-wal', '-control-shm']) {
    expect([end, modeOf(`${file}${end}`)]).toEqual([end, '600'])
    expect(readFileSync(`${file}${end}`).includes(token)).toBe(false)
  }
  expect(existsSync(file)).toBe(false)
})

test('a file that others may read is taken away from them', () => {
  const file = fileIn()
  new Control(file, SYSTEM).close()
  chmodSync(`${file}-control`, 0o644)
  open(file)
  expect(modeOf(`${file}-control`)).toBe('600')
})

test('what another process revokes counts at once, and is told at the next look', () => {
  const file = fileIn()
  const [daemon, other] = [open(file), open(file)]
  const { token } = daemon.createToken({ name: 'a' })
  let told = 0
  const forget = daemon.onChange(() => told++)
  daemon.look()
  expect(told).toBe(0)
  other.revokeToken('a')
  expect(daemon.authenticate(token)).toBeUndefined()
  expect(told).toBe(0)
  daemon.look()
  daemon.look()
  expect(told).toBe(1)
  daemon.createToken({ name: 'b' })
  expect(told).toBe(2)
  forget()
  other.revokeToken('b')
  daemon.look()
  expect(told).toBe(2)
})

test('a token is good while another process holds the write lock', () => {
  const file = fileIn()
  const control = open(file)
  const { token } = control.createToken({ name: 'a' })
  const writer = new Database(`${file}-control`)
  onTestFinished(() => void writer.close())
  writer.exec('BEGIN IMMEDIATE')
  expect(control.authenticate(token)).toMatchObject({ name: 'a' })
  writer.exec('ROLLBACK')
})

test('tokens outlive the process', () => {
  const file = fileIn()
  const before = new Control(file, SYSTEM)
  const { token } = before.createToken({ name: 'a', scopes: ['work'] })
  before.close()
  expect(open(file).authenticate(token)).toEqual({ name: 'a', scopes: ['work'] })
})

test('the first token is made once, and is in its file, its owner’s alone', () => {
  const file = fileIn()
  const control = open(file)
  const token = firstToken(control, file) as string
  expect(readFileSync(tokenFileOf(file), 'utf8')).toBe(`${token}\n`)
  expect(modeOf(tokenFileOf(file))).toBe('600')
  expect(control.authenticate(token)).toMatchObject({ name: 'admin' })
  expect(firstToken(control, file)).toBeUndefined()
  control.revokeToken('admin')
  expect(firstToken(control, file)).toBeUndefined()
})

test('a daemon that has died before its first token was kept makes another one', () => {
  const file = fileIn()
  writeFileSync(tokenFileOf(file), 'half', { mode: 0o644 })
  writeFileSync(`${tokenFileOf(file)}.new`, 'half')
  const control = open(file)
  const token = firstToken(control, file)
  expect(readFileSync(tokenFileOf(file), 'utf8')).toBe(`${token}\n`)
  expect(modeOf(tokenFileOf(file))).toBe('600')
})

test('a file of something else, and one of a newer version, are left alone', () => {
  const [other, newer, text] = [fileIn(), fileIn(), fileIn()]
  new Database(`${other}-control`).exec('CREATE TABLE theirs (a)').close()
  new Control(newer, SYSTEM).close()
  const db = new Database(`${newer}-control`)
  db.pragma('user_version = 99')
  db.close()
  writeFileSync(`${text}-control`, 'not a database, but long enough to be looked at as one '.repeat(20))
  expect(() => open(other)).toThrow(expect.objectContaining({ code: 'NOT_A_DATABASE' }))
  expect(() => open(newer)).toThrow(expect.objectContaining({ code: 'SCHEMA_TOO_NEW' }))
  expect(() => open(text)).toThrow(expect.objectContaining({ code: 'NOT_A_DATABASE' }))
  expect(() => open(join(tmpdir(), 'not', 'there', 'jobs.db'))).toThrow(expect.objectContaining({ code: 'NOT_WRITABLE' }))
})

test.each([0, 1])('a file that was emptied to %i bytes is refused, and stays as it is', (bytes) => {
  const file = fileIn()
  const control = new Control(file, SYSTEM)
  firstToken(control, file)
  control.close()
  writeFileSync(`${file}-control`, 'x'.repeat(bytes))
  expect(() => open(file)).toThrow(
    expect.objectContaining({
      code: 'FILE_TRUNCATED',
      message: `${file}-control was emptied: it has ${bytes} bytes, and the tokens, the endpoints and the audit that it held are gone. Restore a copy of it; or, to start with a new admin token, delete jobs.db-control`,
    }),
  )
  expect(statSync(`${file}-control`).size).toBe(bytes)
  // As it says.
  rmSync(`${file}-control`)
  expect(firstToken(open(file), file)).toMatch(/^mr_/)
})

test('a file that lacks its last byte is refused', () => {
  const file = fileIn()
  new Control(file, SYSTEM).close()
  truncateSync(`${file}-control`, statSync(`${file}-control`).size - 1)
  expect(() => open(file)).toThrow(expect.objectContaining({ code: 'FILE_TRUNCATED' }))
})

test('a file is whole from the moment that it has its name, and nothing is left of how it was made', () => {
  const file = fileIn()
  const linkSync = vi.spyOn(fs, 'linkSync')
  syncBuiltinESMExports()
  onTestFinished(() => {
    linkSync.mockRestore()
    syncBuiltinESMExports()
  })
  linkSync.mockImplementationOnce(() => {
    throw Object.assign(new Error('killed'), { code: 'EIO' })
  })
  const copyFileSync = vi.spyOn(fs, 'copyFileSync').mockImplementationOnce((made) => {
    const db = new Database(made as string, { readonly: true })
    expect(db.pragma('user_version', { simple: true })).toBeGreaterThan(0)
    db.close()
    throw new Error('killed')
  })
  syncBuiltinESMExports()
  onTestFinished(() => copyFileSync.mockRestore())
  expect(() => open(file)).toThrow('killed')
  expect(readdirSync(dirname(file))).toEqual([])
  open(file)
  expect(modeOf(`${file}-control`)).toBe('600')
})

test('a link that leads nowhere is not followed', () => {
  const file = fileIn()
  symlinkSync('elsewhere', `${file}-control`)
  expect(() => open(file)).toThrow(expect.objectContaining({ code: 'NOT_WRITABLE' }))
  expect(readdirSync(dirname(file))).toEqual(['jobs.db-control'])
})

test('what is audited is on the disk when it resolves', async () => {
  const file = fileIn()
  const control = open(file)
  const entry = (status: number) => ({
    at: new Date(status),
    who: 'admin',
    via: 'http' as const,
    operation: 'deleteJob',
    target: { id: 'x' },
    outcome: 'done' as const,
    status,
  })
  await Promise.all([control.audit(entry(200)), control.audit(entry(204))])
  await control.audit(entry(404))
  expect(open(file).audited(2)).toEqual([entry(404), entry(204)])
})

test('a token that somebody sends in place of its name is not in the audit', async () => {
  const file = fileIn()
  const control = open(file)
  const { token } = control.createToken({ name: 'leaked' })
  const call = { at: new Date(1), who: 'ops', via: 'http', operation: 'revokeToken', outcome: 'refused', status: 404 } as const
  await control.audit({ ...call, target: { id: token, note: `see ${token}, mr_short` } })
  expect(open(file).audited(1)).toEqual([{ ...call, target: { id: '[token]', note: 'see [token], mr_short' } }])
})

test('a token that was cut off is not in the audit, unless so little of it is there that it tells nothing', async () => {
  const control = open()
  const { token } = control.createToken({ name: 'leaked' })
  const cutAt = (length: number) => ({ cut: `{"id":"${token.slice(0, length)}` })
  const call = { at: new Date(1), who: 'ops', via: 'http', operation: 'revokeToken', outcome: 'refused', status: 404 } as const
  for (const length of [24, 25, 45]) await control.audit({ ...call, target: cutAt(length) })
  expect(control.audited(3).map(({ target }) => target)).toEqual([{ cut: '{"id":"[token]' }, { cut: '{"id":"[token]' }, cutAt(24)])
})

test('what is audited at once is on the disk, beside what waits', async () => {
  const file = fileIn()
  const control = open(file)
  const call = (at: number) => ({ at: new Date(at), who: 'ops', operation: 'backup', target: { file: '/b' }, outcome: 'done' as const })
  const waiting = control.audit({ ...call(1), status: 200, via: 'http' })
  const refused = { ...call(3), outcome: 'refused' as const, code: 'FORBIDDEN', via: 'socket' as const }
  control.auditNow([{ ...call(2), via: 'socket' }, refused])
  const read = open(file)
  expect(read.audited(9)).toEqual([refused, { ...call(2), via: 'socket' }])
  await waiting
  expect(read.audited(9).map(({ via }) => via)).toEqual(['http', 'socket', 'socket'])
})

test('a03: entry after entry is kept, whichever came together', async () => {
  const control = open()
  const outcomes = ['done', 'refused', 'failed'] as const
  const entry = (at: number) => ({
    at: new Date(at),
    who: 'admin',
    via: 'http' as const,
    operation: 'cancelJob',
    target: {},
    outcome: outcomes[at % 3] ?? 'done',
    status: at + 1,
  })
  const entries = Array.from({ length: 60 }, (_, at) => entry(at))
  // Batches of 1, 2, 3 ... entries.
  for (let [from, size] = [0, 1]; from < entries.length; from += size++)
    await Promise.all(entries.slice(from, from + size).map((each) => control.audit(each)))
  expect(control.audited(1_000)).toEqual(entries.toReversed())
})

test('the newest 100,000 of the audit are kept, and 10,000 that were refused, which push out none of the others', async () => {
  const file = fileIn()
  open(file).close()
  const db = new Database(`${file}-control`)
  const insert = db.prepare(
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO audit (at, who, operation, target, outcome, status, via) SELECT i, 'x', 'deleteJob', '{}', ?, ?, 'http' FROM n",
  )
  insert.run(100_000, 'done', 200)
  insert.run(9_999, 'refused', 403)
  const control = open(file)
  const counts = () =>
    db.prepare('SELECT outcome, count(*) AS count, min(at) AS oldest, max(at) AS newest FROM audit GROUP BY outcome ORDER BY outcome').all()
  const add = (at: number, outcome: 'done' | 'refused') =>
    control.audit({ at: new Date(at), who: 'x', via: 'http', operation: 'deleteJob', target: {}, outcome, status: 200 })
  await Promise.all([200_000, 200_001, 200_002].map((at) => add(at, 'refused')))
  const done = { outcome: 'done', count: 100_000, oldest: 1, newest: 100_000 }
  const refused = { outcome: 'refused', count: 10_000, oldest: 3, newest: 200_002 }
  expect(counts()).toEqual([done, refused])
  await add(200_003, 'done')
  await add(200_004, 'done')
  expect(counts()).toEqual([{ ...done, oldest: 3, newest: 200_004 }, refused])
  await add(200_005, 'refused')
  expect(counts()).toEqual([
    { ...done, oldest: 3, newest: 200_004 },
    { ...refused, oldest: 4, newest: 200_005 },
  ])
  db.close()
})

test('endpoints are kept with their cursors, and changed in part, all or nothing', async () => {
  const file = fileIn()
  const { endpoints } = open(file)
  const [createdAt, failingSince] = [new Date(5_000), new Date(6_000)]
  const one = { id: 'a', cursor: 5, createdAt, url: 'https://one.example', events: ['failed'], enabled: true } as const
  const two = { id: 'b', cursor: 1, createdAt, url: 'https://two.example', events: ['completed'], enabled: true } as const
  await endpoints.save(one)
  await endpoints.save(two)
  await endpoints.update([
    { id: 'a', cursor: 9, failingSince },
    { id: 'gone', cursor: 3 },
  ])
  expect(await open(file).endpoints.list()).toEqual([{ ...one, cursor: 9, failingSince }, two])
  await endpoints.update([{ id: 'a', failingSince: undefined }])
  expect(await endpoints.list()).toEqual([{ ...one, cursor: 9 }, two])
  await expect(
    endpoints.update([
      { id: 'a', cursor: 10 },
      { id: 'b', cursor: 'x' as never },
    ]),
  ).rejects.toThrow()
  expect((await endpoints.list()).map(({ cursor }) => cursor)).toEqual([9, 1])
  expect([await endpoints.delete('a'), await endpoints.delete('a')]).toEqual([true, false])
  expect(await endpoints.list()).toEqual([two])
})

test('a session that has ended in one process has ended in all, and is forgotten with its cookie', () => {
  const file = fileIn()
  let now = 1_000
  const [one, other] = [open(file, () => now), open(file, () => now)]
  one.endSession('first', new Date(5_000))
  expect([one, other].map((control) => control.isEnded('first'))).toEqual([true, true])
  expect(other.isEnded('second')).toBe(false)
  now = 5_000
  other.endSession('second', new Date(9_000))
  expect(['first', 'second'].map((id) => one.isEnded(id))).toEqual([false, true])
})

test('a session stays ended, however many sessions of another token end', () => {
  const file = fileIn()
  const before = open(file, () => 1_000)
  before.endSession('victim.1', new Date(5_000))
  before.close()
  const db = new DatabaseSync(`${file}-control`)
  db.exec(`WITH RECURSIVE many (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < 9999)
INSERT INTO ended_session SELECT 'other.' || n, 6000 + n FROM many`)
  db.close()
  const control = open(file, () => 1_000)
  control.endSession('other.late', new Date(60_000))
  expect(['victim.1', 'other.1', 'other.2', 'other.late'].map((id) => control.isEnded(id))).toEqual([true, false, true, true])
})

test('a file that was taken away from its log is not made anew beside it', () => {
  const file = fileIn()
  const control = open(file)
  control.createToken({ name: 'first' })
  rmSync(`${file}-control`)
  const refused = expect.objectContaining({ code: 'FILE_TRUNCATED', message: expect.stringContaining('delete jobs.db-control-wal') })
  expect(() => open(file)).toThrow(refused)
  expect(existsSync(`${file}-control`)).toBe(false)
})

const HARMS: Readonly<Record<string, (control: string) => void>> = {
  'it is deleted': (control) => rmSync(control),
  'it is moved away': (control) => renameSync(control, `${control}.moved`),
  'its log is deleted': (control) => rmSync(`${control}-wal`),
  'it is deleted, with its log and index': (control) => ['', '-wal', '-shm'].forEach((ending) => void rmSync(`${control}${ending}`)),
  'another library opens and closes it': (control) => {
    const other = new DatabaseSync(control)
    other.exec('SELECT count(*) FROM token')
    other.close()
  },
}

test.each(Object.entries(HARMS))('%s: no change is acknowledged any more, and all that was is in a copy', (_what, harm) => {
  const file = fileIn()
  const control = open(file)
  const { token } = control.createToken({ name: 'first' })
  control.secret('bystander')
  harm(`${file}-control`)
  const lost = expect.objectContaining({ code: 'OWNER_LOST', path: `${file}-control`, message: expect.stringContaining('control.saved-') })
  expect(() => control.createToken({ name: 'late' })).toThrow(lost)
  expect(() => control.revokeToken('first')).toThrow(lost)
  expect(() => control.secret('late')).toThrow(lost)
  expect(() => control.auditNow([{ at: new Date(0), who: 'x', via: 'socket', operation: 'o', target: {}, outcome: 'done' }])).toThrow(lost)
  expect(() => control.look()).toThrow(lost)
  const unavailable = { code: 'AUDIT_UNAVAILABLE', retryable: true, message: expect.stringContaining('millrace doctor'), cause: lost }
  expect(() => control.assertAuditable()).toThrow(expect.objectContaining(unavailable))
  expect(control.fault).toEqual(lost)
  expect(control.authenticate(token)).toMatchObject({ name: 'first' })
  const secret = control.secret('bystander')
  control.close()

  const [copy = ''] = readdirSync(dirname(file)).filter((name) => /-control\.saved-\d+$/.test(name))
  const other = fileIn()
  renameSync(join(dirname(file), copy), `${other}-control`)
  const again = open(other)
  expect(again.listTokens().map(({ name }) => name)).toEqual(['first'])
  expect(again.secret('bystander')).toEqual(secret)
})

test('a call that cannot be audited just now is refused, and the next one is not', async () => {
  const file = fileIn()
  const control = open(file)
  control.assertAuditable()
  expect(control.fault).toBeUndefined()
  // The proof holds for calls of one tick.
  await new Promise((resolve) => setImmediate(resolve))
  const other = new Database(`${file}-control`)
  onTestFinished(() => void other.close())
  other.exec('BEGIN IMMEDIATE')
  const cause = expect.objectContaining({ code: 'SQLITE_BUSY' })
  expect(() => control.assertAuditable()).toThrow(expect.objectContaining({ code: 'AUDIT_UNAVAILABLE', cause }))
  // Another process that writes for a while is no fault.
  expect(control.fault).toBeUndefined()
  other.exec('ROLLBACK')
  control.assertAuditable()
})

test('a database that cannot be written is a fault until a look can write it again', () => {
  const file = fileIn()
  const control = open(file)
  const { token } = control.createToken({ name: 'first' })
  const readOnly = vi.spyOn(Database.prototype, 'pragma').mockImplementationOnce(() => {
    throw Object.assign(new Error('attempt to write a readonly database'), { code: 'SQLITE_READONLY' })
  })
  onTestFinished(() => readOnly.mockRestore())
  expect(() => control.assertAuditable()).toThrow(expect.objectContaining({ code: 'AUDIT_UNAVAILABLE' }))
  expect(control.fault).toMatchObject({ code: 'SQLITE_READONLY' })
  expect(control.authenticate(token)).toMatchObject({ name: 'first' })
  control.look()
  expect(control.fault).toBeUndefined()
  control.assertAuditable()
})

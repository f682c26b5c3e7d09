import { VirtualClock } from '@millrace/testkit'
import Database from 'better-sqlite3'
import { beforeEach, expect, test } from 'vitest'
import { OutboxLog } from './log.ts'
import { OutboxTable, outboxSchema } from './table.ts'

const AT = Date.UTC(2030, 0, 1)
const [OLD, OWN, NEXT] = [
  { uuid: 'old', number: 10 },
  { uuid: 'own', number: 11 },
  { uuid: 'next', number: 12 },
] as const
const OTHER = { uuid: 'other', number: 13 }

let connection: Database.Database
let table: OutboxTable
let clock: VirtualClock
let gone: number
let log: OutboxLog
beforeEach(() => {
  connection = new Database(':memory:')
  connection.exec(outboxSchema())
  table = new OutboxTable(connection, 'millrace_outbox')
  clock = new VirtualClock()
  gone = 0
  put(OLD, 1)
  log = new OutboxLog(connection, table, clock, OWN, () => {
    gone++
    log.close()
  })
})

const put = (source: typeof OTHER, place: number) => table.insert(source, place, { name: 'a', data: null }, AT)
/** All that is read and dropped, one chunk after another. */
async function drain(): Promise<string[]> {
  const seen: string[] = []
  for (let chunk = await log.read(); chunk !== undefined; chunk = await log.read()) {
    const { source, first, entries } = chunk
    seen.push(...entries.map((_entry, index) => `${source.uuid}${first + index}`))
    await log.drop(chunk)
  }
  return seen
}

test('what was there before comes first, then its own; what another process puts there is that one’s', async () => {
  put(OWN, 1)
  put(OTHER, 1)
  put(OWN, 2)
  put(OWN, 4)
  expect(await drain()).toEqual(['old1', 'own1', 'own2', 'own4'])
  expect(connection.prepare('SELECT source FROM millrace_outbox').pluck().all()).toEqual(['other'])
  // Row numbers begin anew in an empty table.
  connection.exec('DELETE FROM millrace_outbox')
  put(OWN, 5)
  put(OTHER, 2)
  expect(await drain()).toEqual(['own5'])
})

test('a read that is not dropped is read again', async () => {
  put(OWN, 1)
  await log.read()
  expect(await drain()).toEqual(['old1', 'own1'])
})

test('another source is begun: what is left of the one before is still sent, and first', async () => {
  put(OWN, 1)
  expect(await drain()).toEqual(['old1', 'own1'])
  put(OWN, 2)
  log.begin(NEXT)
  put(NEXT, 1)
  expect(await drain()).toEqual(['own2', 'next1'])
})

test('within a transaction nothing is read, dropped or noted until it is over', async () => {
  const chunk = await log.read()
  if (chunk === undefined) throw new Error('there is one')
  connection.exec('BEGIN')
  let done = 0
  const wait = (work: Promise<unknown>) => work.then(() => done++)
  const waits = [wait(log.drop(chunk))]
  await clock.advance(1_000)
  expect(done).toBe(0)
  connection.exec('COMMIT')
  await clock.advance(100)
  await Promise.all(waits)

  connection.exec('BEGIN')
  const noted = wait(log.note(OWN, 1, undefined, { code: 'UNIQUE_CONFLICT', message: 'taken' }))
  await clock.advance(1_000)
  expect(done).toBe(1)
  // Told of the end, it does not wait for the next look.
  connection.exec('ROLLBACK')
  log.look()
  await noted
})

test('a transaction that begins right behind the call is not seen into', async () => {
  const chunk = await log.read()
  if (chunk === undefined) throw new Error('there is one')
  const dropped = log.drop(chunk)
  const read = log.read()
  connection.exec('BEGIN')
  put(OWN, 1)
  expect(await read).toBeUndefined()
  await dropped
  connection.exec('ROLLBACK')
  expect(await drain()).toEqual([])
})

test('a connection that is closed, or an outbox, ends the wait', async () => {
  connection.exec('BEGIN')
  const read = log.read()
  log.close()
  await expect(read).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
  expect(gone).toBe(0)
  connection.close()
  await expect(log.read()).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
  expect(gone).toBe(1)
})

/** Several processes of an app on one table, and one that ends as it begins. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Engine, openEngine } from '@millrace/engine'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Outbox, outbox } from './outbox.ts'

let folder: string
let engine: Engine
let ends: (() => unknown)[]
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-outbox-'))
  ends = []
  engine = await openEngine({ file: ':memory:' })
})
afterEach(async () => {
  for (const end of ends.reverse()) await end()
  await engine.stop()
  rmSync(folder, { recursive: true })
})

function connected() {
  const connection = new Database(join(folder, 'app.db'))
  connection.pragma('journal_mode = WAL')
  ends.push(() => connection.close())
  return connection
}
function started(connection: Database.Database, to: Engine = engine): Outbox {
  const box = outbox(connection, { engine: to, createTable: true })
  ends.push(() => box.close())
  return box
}
const put = (box: Outbox, n: number) => box.transaction((tx) => box.enqueue(tx, 'a', n).id)

test('row numbers that come again let no job of a new source pass the ones before it', async () => {
  // Two processes have left rows: 1 and 2 of one source, 3 to 5 of another.
  const line = engine.sourceLine()
  const away = { sourceLine: () => ({ ...line, call: () => new Promise(() => {}) }) } as unknown as Engine
  for (const jobs of [
    [1, 2],
    [3, 4, 5],
  ]) {
    const connection = connected()
    const box = started(connection, away)
    for (const n of jobs) put(box, n)
    await new Promise((resolve) => setImmediate(resolve))
    await box.close()
  }
  // Two come up again. The call of one takes its time.
  const gate = Promise.withResolvers<void>()
  const slow = {
    sourceLine: () => ({ ...line, call: async (command: never) => gate.promise.then(() => line.call(command)) }),
  } as unknown as Engine
  const one = started(connected(), slow)
  await new Promise((resolve) => setImmediate(resolve))
  // The other sends and deletes all that was left.
  const other = started(connected())
  await other.flush()
  for (const n of [6, 7, 8]) put(one, n)
  gate.resolve()
  await one.flush()
  await one.close()
  const next = started(connected())
  await next.flush()
  expect((await engine.list()).jobs.map(({ data }) => data).toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
})

test('an outbox that is closed as soon as it was opened waits for no engine', async () => {
  const line = engine.sourceLine()
  let asked = 0
  const away = { sourceLine: () => ({ ...line, call: () => new Promise(() => asked++) }) } as unknown as Engine
  const connection = connected()
  const first = started(connection, away)
  put(first, 1)
  await new Promise((resolve) => setImmediate(resolve))
  await first.close()
  asked = 0
  const second = outbox(connection, { engine: away })
  await second.close()
})

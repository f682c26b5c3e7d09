/**
 * An app that takes orders, each with a job in the same transaction, and tells the numbers of those that are committed:
 * `app.ts DATABASE QUEUE FIRST COUNT [STEP TIMES]`, where QUEUE is `unix:SOCKET`, or the file of an engine of its own. Every third order is
 * rolled back, and jobs whose number ends in 7 are refused, for as long as the key is another job's. Then it stays until it is killed; with
 * a COUNT of 0 until all that its outbox holds is sent.
 */
import { openEngine } from '@millrace/engine'
import { outbox } from '@millrace/outbox'
import { connect } from '@millrace/remote'
import Database from 'better-sqlite3'
import { dieAt, type Step } from './dieAt.ts'

const [file = '', queue = '', first = '', count = '', step, times = ''] = process.argv.slice(2)
const connection = new Database(file)
connection.exec('PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS orders (number INTEGER PRIMARY KEY) STRICT')
if (step !== undefined) dieAt(connection, step as Step, Number(times))

const engine = queue.startsWith('unix:')
  ? await connect(queue, { reconnect: { minDelay: 1, maxDelay: 20 } })
  : await openEngine({ file: queue, durability: 'normal', waitForOwner: '10s' })
// Answered when there is a server.
await engine.stats()
if (!queue.startsWith('unix:'))
  await engine.enqueue('order', -1, { delay: '1h', idempotencyKey: 'bystander', unique: { key: 'taken', onConflict: 'error' } })
const box = outbox(connection, { engine, createTable: true })
const insert = connection.prepare('INSERT INTO orders (number) VALUES (?)')

const [from, until] = [Number(first), Number(first) + Number(count)]
for (let number = from; number < until; number++) {
  try {
    box.transaction((tx) => {
      insert.run(number)
      box.enqueue(tx, 'order', number, number % 10 === 7 ? { unique: { key: 'taken', onConflict: 'error' } } : {})
      if (number % 3 === 0) throw new RangeError('rolled back')
    })
    process.stdout.write(`${number}\n`)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  // What has been answered meanwhile is heard.
  if (number % 15 === 14) await box.flush()
  else if (number % 5 === 0) await new Promise((resolve) => setImmediate(resolve))
}
if (from === until) {
  await box.flush()
  await box.close()
  await engine.stop()
} else setInterval(() => {}, 1e9)

/**
 * `pnpm bench:outbox [ORDERS]`: orders that are saved in an app's own database, each in a transaction: alone, with an enqueue behind the
 * commit, and with the job in the same transaction. Until the last job is in the queue.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEngine } from '@millrace/engine'
import { outbox } from '@millrace/outbox'
import Database from 'better-sqlite3'
import { payloadOf } from './payload.ts'
import { median } from './quantile.ts'
import { markdown } from './table.ts'

const WAYS = ['no job', 'enqueue behind the commit', 'outbox'] as const
const REPETITIONS = 3
/** Orders of one tick, as a busy server has them; enqueues are awaited together behind them. */
const PER_TICK = 50

const orders = Number(process.argv[2] ?? 10_000)
if (!Number.isInteger(orders) || orders < 1) throw new RangeError(`ORDERS is a whole number from 1, not ${process.argv[2]}`)
const rows: string[][] = []
for (const way of WAYS) {
  const rates: number[] = []
  for (let repetition = 0; repetition < REPETITIONS; repetition++) rates.push(await run(way))
  rows.push([way, Math.round(median(rates)).toLocaleString('en-US')])
}
process.stdout.write(`${markdown(['orders, each in a transaction of its own', 'per second'], rows)}\n`)

async function run(way: (typeof WAYS)[number]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  const app = new Database(join(folder, 'app.db'))
  app.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE TABLE orders (id INTEGER PRIMARY KEY, total INTEGER) STRICT')
  const save = app.prepare('INSERT INTO orders (total) VALUES (?)')
  const engine = await openEngine({ file: join(folder, 'jobs.db'), durability: 'normal' })
  const box = outbox(app, { engine, createTable: true })
  const began = performance.now()
  for (let order = 0; order < orders; ) {
    const calls: Promise<unknown>[] = []
    for (const end = Math.min(orders, order + PER_TICK); order < end; order++) {
      box.transaction((tx) => {
        save.run(order)
        if (way === 'outbox') box.enqueue(tx, 'receipt', payloadOf(order))
      })
      if (way === 'enqueue behind the commit') calls.push(engine.enqueue('receipt', payloadOf(order)))
    }
    await Promise.all(calls)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await box.flush()
  const seconds = (performance.now() - began) / 1_000
  const { states } = await engine.stats()
  if (states.waiting !== (way === 'no job' ? 0 : orders)) throw new Error(`${states.waiting} of ${orders} jobs are in the queue`)
  await box.close()
  await engine.stop()
  app.close()
  rmSync(folder, { recursive: true })
  return orders / seconds
}

/** Orders with their receipts, in one transaction: `node shop.ts FOLDER`, and with `crash` one that dies right behind its commit. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { defineJob, openEngine } from '@millrace/engine'
import { outbox } from '@millrace/outbox'
import Database from 'better-sqlite3'

const [folder = 'shop', crash] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })

const receipt = defineJob<{ order: number; total: number }>({ name: 'receipt' })

const shop = new Database(join(folder, 'shop.db'))
shop.exec('CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, total INTEGER NOT NULL CHECK (total > 0)) STRICT')
const save = shop.prepare('INSERT INTO orders (total) VALUES (?)')

const engine = await openEngine({ file: join(folder, 'jobs.db'), waitForOwner: '10s' })
// What an earlier run has committed and not sent is sent by now.
const box = outbox(shop, { engine, createTable: true })

function order(total: number): string {
  return box.transaction((tx) => {
    const job = box.enqueue(tx, receipt, { order: Number(shop.prepare('SELECT max(id) FROM orders').pluck().get() ?? 0) + 1, total })
    // A total of 0 is not saved, and then its receipt is not sent either.
    save.run(total)
    return job.id
  })
}

engine.work(
  receipt.handler(({ data }) => {
    console.log(`receipt for order ${data.order}: ${data.total}`)
  }),
)

order(100)
try {
  order(0)
} catch (error) {
  console.log(`not saved: ${(error as Error).message}`)
}
if (crash === 'crash') process.kill(process.pid, 'SIGKILL')
const last = order(250)

await box.flush()
console.log(`the last receipt is ${(await engine.get(last))?.name}`)
await expectIdle()
await box.close()
await engine.stop()
shop.close()

/** All receipts are out. */
async function expectIdle(): Promise<void> {
  const { states } = await engine.stats()
  if (states.waiting + states.active === 0) return
  await new Promise((resolve) => engine.once('completed', resolve))
  await expectIdle()
}

/** Orders in a database of Prisma's, each with a receipt as a job in the same transaction: both are saved, or neither. */
import { defineJob, openEngine } from '@millrace/engine'
import { outbox } from '@millrace/outbox'
import { SharedConnection } from './database.ts'
import { PrismaClient } from './generated/sqlite/client.ts'

const folder = process.argv[2] ?? '.'
const receipt = defineJob<{ order: number; total: number }>({ name: 'receipt' })
const engine = await openEngine({ file: `${folder}/jobs.db` })
engine.work(receipt.handler(({ data }) => console.log(`receipt for order ${data.order}: ${data.total}`)))

const adapter = new SharedConnection({ url: `file:${folder}/app.db` })
const prisma = new PrismaClient({ adapter })
await prisma.$connect()
await prisma.$executeRaw`CREATE TABLE IF NOT EXISTS "Order" (id INTEGER PRIMARY KEY AUTOINCREMENT, total INTEGER NOT NULL CHECK (total > 0))`
const { connection } = adapter
if (connection === undefined) throw new Error('Prisma has opened no connection')
const box = outbox(connection, { engine, createTable: true })

async function save(total: number, check = () => {}): Promise<void> {
  await prisma.$transaction(async (tx) => {
    const { id } = await tx.order.create({ data: { total } })
    box.enqueue(connection, receipt, { order: id, total })
    check()
  })
}

await save(100)
await save(200, () => {
  throw new Error('the card was refused')
}).catch((error: Error) => console.log(`not saved: ${error.message}`))
await save(300)

await box.flush()
console.log(`${await prisma.order.count()} orders`)
await engine.queues.drain('default')
await box.close()
await engine.stop()
await prisma.$disconnect()

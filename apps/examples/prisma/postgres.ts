/** The same on one Postgres, which has the orders and the queue: `enqueueBySql` within a transaction of Prisma. */
import { defineJob, openEngine } from '@millrace/engine'
import { enqueueBySql } from '@millrace/outbox'
import { PrismaPg } from '@prisma/adapter-pg'
import { PrismaClient } from './generated/postgres/client.ts'

const postgres = process.env['DATABASE_URL'] ?? 'postgres://postgres@localhost/postgres'
const receipt = defineJob<{ order: number; total: number }>({ name: 'receipt' })
const engine = await openEngine({ postgres })
let receipts = 0
const sent = Promise.withResolvers<void>()
engine.work(
  receipt.handler(({ data }) => {
    console.log(`receipt for order ${data.order}: ${data.total}`)
    if (++receipts === 2) sent.resolve()
  }),
)

const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: postgres }) })
await prisma.$executeRaw`CREATE TABLE IF NOT EXISTS "Order" (id SERIAL PRIMARY KEY, total INTEGER NOT NULL)`
const enqueue = enqueueBySql()

async function save(total: number, check = () => {}): Promise<string | undefined> {
  return prisma.$transaction(async (tx) => {
    const { id } = await tx.order.create({ data: { total } })
    const { text, values } = enqueue(receipt, { order: id, total })
    const [job] = await tx.$queryRawUnsafe<{ id: string }[]>(text, ...values)
    check()
    return job?.id
  })
}

await save(100)
await save(200, () => {
  throw new Error('the card was refused')
}).catch((error: Error) => console.log(`not saved: ${error.message}`))
await save(300)

// The owner takes jobs from the tables a moment after the commit. Until then, `result` of their ids would find none.
await sent.promise
console.log(`${await prisma.order.count()} orders`)
await engine.stop()
await prisma.$disconnect()

/** A job that runs twice and pays once: the other side gets the id of the job as its key. */
import { defineJob, openEngine } from '@millrace/engine'

const charge = defineJob<{ cents: number }>({ name: 'charge', backoff: { type: 'fixed', delay: '20ms' } })

/** A stand-in for a payment service. A second request with the same key gets the payment of the first. */
const payments = new Map<string, { id: string; cents: number }>()
async function pay(cents: number, { key }: { key: string }): Promise<{ id: string }> {
  const payment = payments.get(key) ?? { id: `payment ${payments.size + 1}`, cents }
  payments.set(key, payment)
  return payment
}

const handler = charge.handler(async ({ data, job }) => {
  const payment = await pay(data.cents, { key: job.id })
  console.log(`attempt ${job.attempt}: ${payment.id}`)
  if (job.attempt === 1) throw new Error('the power is cut here')
  return payment.id
})

await using engine = await openEngine({ file: ':memory:' })
engine.work(handler)
const handle = await engine.enqueue(charge, { cents: 500 })
console.log(`${await handle.result()}, of ${payments.size}`)

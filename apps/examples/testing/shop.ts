/** A shop, as small as one can be: what the tests beside it test. */
import { defineJob, type Engine, type JobHandle, type Worker } from '@millrace/engine'

export const charge = defineJob<{ order: string; cents: number }>({
  name: 'charge',
  maxAttempts: 4,
  backoff: { type: 'exponential', delay: '20s', factor: 2, jitter: 0 },
})
export const receipt = defineJob<{ order: string }>({ name: 'receipt', queue: 'mail' })
export const report = defineJob<{ of: string }>({ name: 'report' })

/** Called again with the same order, it is the same job. */
export function placeOrder(engine: Engine, order: string, cents: number): Promise<JobHandle> {
  return engine.enqueue(charge, { order, cents }, { idempotencyKey: order })
}

export function startWorker(engine: Engine, bank: (order: string, cents: number) => Promise<void>): Worker {
  return engine.work([
    charge.handler(async ({ data, enqueue }) => {
      await bank(data.order, data.cents)
      enqueue(receipt, { order: data.order }, { delay: '5m' })
    }),
    receipt.handler(({ data }) => `receipt of ${data.order}`),
    report.handler(({ data }) => `report of ${data.of}`),
  ])
}

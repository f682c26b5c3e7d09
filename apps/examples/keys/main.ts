/** The same thing asked for twice: an order that is paid once, and a search index that is rebuilt once for many changes. */
import { defineJob, openEngine, UniqueConflictError } from '@millrace/engine'

const pay = defineJob<{ order: string; cents: number }>({ name: 'pay' })
const rebuild = defineJob<{ upTo: number }>({ name: 'rebuild' })

await using engine = await openEngine({ file: ':memory:' })

// An idempotency key: created once, whatever comes of the job. A repeat answers the first, whatever its data.
const first = await engine.enqueue(pay, { order: 'o-1', cents: 500 }, { idempotencyKey: 'o-1' })
const again = await engine.enqueue(pay, { order: 'o-1', cents: 500 }, { idempotencyKey: 'o-1' })
console.log(`the second click: created ${again.created}, the same job ${again.id === first.id}`)

// A unique key: one live job at a time, held until that has ended. 'replace' takes the later data.
for (let change = 1; change <= 50; change++) {
  await engine.enqueue(rebuild, { upTo: change }, { delay: '100ms', unique: { key: 'index', onConflict: 'replace' } })
}
try {
  await engine.enqueue(rebuild, { upTo: 51 }, { unique: { key: 'index', onConflict: 'error' } })
} catch (error) {
  if (!(error instanceof UniqueConflictError)) throw error
  console.log(`a rebuild is waiting already: ${error.code}`)
}
const last = await engine.enqueue(rebuild, { upTo: 52 }, { unique: { key: 'index', onConflict: 'skip' } })

engine.work([
  pay.handler(({ data }) => `${data.order} paid`),
  rebuild.handler(({ data }) => `the index is rebuilt up to change ${data.upTo}`),
])
console.log(await first.result())
console.log(await last.result())
const { jobs } = await engine.list({ name: 'rebuild' })
console.log(`${jobs.length} rebuild for 50 changes`)

// It has ended, so the key is free.
const next = await engine.enqueue(rebuild, { upTo: 53 }, { unique: { key: 'index', onConflict: 'error' } })
console.log(await next.result())

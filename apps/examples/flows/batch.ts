/** Many jobs, and one when they have all ended: `node batch.ts 20`. */
import { defineJob, openEngine } from '@millrace/engine'

const count = Number(process.argv[2] ?? 10)

const square = defineJob<number, number>({ name: 'square', maxAttempts: 1 })
const sum = defineJob({ name: 'sum' })

await using engine = await openEngine({ file: ':memory:' })
engine.work([
  square.handler(({ data }) => {
    if (data % 10 === 7) throw new Error(`${data} is not a nice number`)
    return data * data
  }),
  sum.handler(async ({ parents }) => {
    let [total, failed] = [0, 0]
    for await (const { state, output } of parents<typeof square>()) {
      if (state === 'completed') total += output ?? 0
      else failed++
    }
    return `the squares add up to ${total}, ${failed} left out`
  }),
])

const numbers = Array.from({ length: count }, (_, index) => index + 1)
const batch = await engine.batch(
  numbers.map((number) => ({ job: square, data: number })),
  { job: sum },
)
console.log(await batch.callback.result())

/** Work that needs the processor, on a pool of threads: this one stays free meanwhile. */
import { openEngine } from '@millrace/engine'
import { primes } from './primes.ts'

await using engine = await openEngine({ file: ':memory:' })
engine.work(primes.thread(new URL('./handler.ts', import.meta.url), { threads: 2 }), { concurrency: 2 })

let turns = 0
const ticking = setInterval(() => turns++, 1)
const handles = await engine.enqueueMany(
  [1, 2, 3, 4].map((part) => ({ job: primes, data: { from: part * 500_000, to: (part + 1) * 500_000 } })),
)
let total = 0
for (const handle of handles) {
  const { count, thread } = await handle.result({ timeout: '1m' })
  total += count
  if (thread === 0) throw new Error('a handler has run on the main thread')
}
clearInterval(ticking)
console.log(`${total} primes between 500,000 and 2,500,000`)
console.log(`this thread was free meanwhile: ${turns > 0}`)

/** `archive.ts`: jobs that have ended go to a file of their own, a line each, and are then forgotten by the queue. */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineJob, openEngine } from '@millrace/engine'

const folder = process.env['EXAMPLE_FOLDER'] ?? '.'

const square = defineJob<number>({ name: 'square' })
// Nothing is kept of what is done; but for the archive, which is yet to have it.
await using engine = await openEngine({ file: join(folder, 'archived.db'), retention: { completed: 0 } })
const batches = engine.exports.read('archive')
const first = batches.next()

const worker = engine.work(square.handler(({ data }) => data * data))
await engine.enqueueMany([2, 3, 4].map((data) => ({ job: square, data })))

let left = 3
for (let batch = await first; batch.done !== true; batch = await batches.next()) {
  for (const { id, data, output } of batch.value.jobs) {
    // Should it come twice, its id tells.
    appendFileSync(join(folder, 'archive.ndjson'), `${JSON.stringify({ id, data, output })}\n`)
    console.log(`${data} squared is ${output}`)
    left--
  }
  if (left <= 0) break
}
await worker.stop()

/** Readings that come one by one, enqueued as they are read: from a file, on from where it broke off, and from a source without end. */
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { defineJob, type JobRequest, openEngine } from '@millrace/engine'

const LIST = 500
const store = defineJob<{ celsius: number }>({ name: 'store' })

const folder = mkdtempSync(join(tmpdir(), 'millrace-readings-'))
const engine = await openEngine({ file: join(folder, 'jobs.db') })

const file = join(folder, 'readings.jsonl')
const lines = Array.from({ length: 3_000 }, (_, line) => JSON.stringify({ celsius: line % 30 }))
writeFileSync(file, lines.with(2_345, '{ "celsius": ').join('\n'))

/** Read no faster than the engine commits: at most a chunk ahead. The key makes a line that is read twice one job. */
async function* readings(from: number): AsyncGenerator<JobRequest<typeof store>> {
  let number = 0
  for await (const line of createInterface({ input: createReadStream(file) })) {
    if (number >= from) yield { job: store, data: JSON.parse(line), options: { idempotencyKey: `readings.jsonl:${number}` } }
    number++
  }
}

const committed = await engine.enqueueMany(readings(0)).then(
  (handles) => handles.length,
  (error: Error & { committed?: number }) => {
    console.log(`${error.name}: ${error.committed} are committed`)
    return error.committed ?? 0
  },
)
writeFileSync(file, lines.join('\n'))
const rest = await engine.enqueueMany(readings(committed))
console.log(`${rest.length} more, ${(await engine.stats()).totals.enqueued} in all`)

/** A sensor that never ends, for as long as this program runs. */
async function* sensor(signal: AbortSignal): AsyncGenerator<JobRequest<typeof store>> {
  for (let celsius = 0; !signal.aborted; celsius = (celsius + 1) % 30) yield { job: store, data: { celsius } }
}

/** `enqueueMany` keeps a handle of each job until its iterable ends: what has no end goes in lists, whose handles are let go. */
async function* lists(requests: AsyncIterable<JobRequest<typeof store>>): AsyncGenerator<readonly JobRequest<typeof store>[]> {
  let list: JobRequest<typeof store>[] = []
  for await (const request of requests) {
    list.push(request)
    if (list.length < LIST) continue
    yield list
    list = []
  }
  if (list.length > 0) yield list
}

const ending = new AbortController()
let enqueued = 0
for await (const list of lists(sensor(ending.signal))) {
  enqueued += (await engine.enqueueMany(list)).length
  if (enqueued === 4 * LIST) ending.abort()
}
console.log(`${enqueued} of the sensor, ${(await engine.stats()).totals.enqueued} in all`)

await engine.stop()
rmSync(folder, { recursive: true })

/** Readings of many sensors, written to a table a hundred at a time: one insert for each hundred, and an outcome for each reading. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineJob, NonRetryableError, openEngine } from '@millrace/engine'

const store = defineJob<{ sensor: string; celsius: number }>({ name: 'store', timeout: '1m' })

const folder = mkdtempSync(join(tmpdir(), 'millrace-batches-'))
const engine = await openEngine({ file: join(folder, 'jobs.db') })

const table: { sensor: string; celsius: number }[] = []
const inserts: number[] = []

engine.work(
  store.handler(
    async (readings, { signal }) => {
      signal.throwIfAborted()
      const sound = readings.filter(({ data }) => data.celsius > -273.15)
      table.push(...sound.map(({ data }) => data))
      inserts.push(sound.length)
      return readings.map(({ data }) =>
        data.celsius > -273.15
          ? { output: 'stored' }
          : { error: new NonRetryableError(`${data.celsius} °C is colder than anything can be`) },
      )
    },
    { batch: { size: 100, maxWait: '200ms' } },
  ),
  { concurrency: 200 },
)

const handles = await engine.enqueueMany(
  Array.from({ length: 1_000 }, (_, number) => ({
    job: store,
    data: { sensor: `s${number % 10}`, celsius: number === 500 ? -300 : number % 30 },
  })),
)
const results = await Promise.allSettled(handles.map((handle) => handle.result({ timeout: '1m' })))

const { states } = await engine.stats()
console.log(`${results.filter(({ status }) => status === 'fulfilled').length} results, ${table.length} rows in ${inserts.length} inserts`)
console.log(`${states.completed} completed, ${states.failed} failed: ${results.find(({ status }) => status === 'rejected')?.status}`)

await engine.stop()
rmSync(folder, { recursive: true })

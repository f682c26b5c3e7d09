/** Looking for jobs by what is in them: page by page, as each looks at so many jobs only, found or not. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineJob, type Engine, type Job, type ListOptions, openEngine } from '@millrace/engine'

/** All that match, newest first. To stop early, for a first page on a screen, is to leave the loop. */
async function* searchAll(engine: Engine, options: ListOptions): AsyncGenerator<Job> {
  let after = options.after
  do {
    const page = await engine.list({ ...options, ...(after !== undefined && { after }) })
    yield* page.jobs
    // Not the number of jobs: a page may be short, or empty (`partial`), and yet have a next one.
    after = page.next
  } while (after !== undefined)
}

const mail = defineJob<{ to: string; subject: string }>({ name: 'mail' })
const invoice = defineJob<{ order: string }>({ name: 'invoice' })

const folder = mkdtempSync(join(tmpdir(), 'millrace-search-'))
const engine = await openEngine({ file: join(folder, 'jobs.db') })
await engine.enqueueMany(
  Array.from({ length: 5_000 }, (_, n) => ({ job: mail, data: { to: `customer-${n}@example.org`, subject: `Order ${n}` } })),
)
await engine.enqueue(invoice, { order: 'o-4711' }, { tags: ['Customer-17'], meta: { clerk: 'customer-17' } })
await engine.enqueue(invoice, { order: 'o-4712' }, { meta: { clerk: 'customer-17' } })

async function say(what: string, options: ListOptions): Promise<void> {
  const found: string[] = []
  for await (const { name, data } of searchAll(engine, options)) found.push(`${name} ${Object.values(data as object)[0]}`)
  console.log(`${what}: ${found.length === 0 ? 'nothing' : found.join(', ')}`)
}

await say('customer-17@', { search: 'customer-17@' })
await say('CUSTOMER-17 among the invoices, by its tag', { search: 'CUSTOMER-17', name: 'invoice' })
await say('part of a key of the data and its value', { search: '"order":"o-47' })
await say('what is in meta alone', { search: 'clerk' })

// One page says itself whether it has come to its end.
const { jobs, next, partial } = await engine.list({ search: 'example.org', limit: 3 })
console.log(`a page of ${jobs.length}, ${next === undefined ? 'the last' : 'and more'}, ${partial ? 'cut short' : 'full'}`)

await engine.stop()
rmSync(folder, { recursive: true })

/**
 * One of the processes that share a file, or what options of `openEngine` name as JSON. It does what its standard input says, a line of JSON each, and tells what happened as lines
 * of JSON: `{ enqueue: n }` enqueues and acknowledges n, `{ many: lot, count, bytes }` that many at once, with as much data each; it
 * works on 'job' if told to, and tells every run.
 */
import { createInterface } from 'node:readline'
import { openEngine } from '@millrace/engine'

interface Order {
  readonly enqueue?: number
  readonly ms?: number
  readonly stop?: boolean
  readonly stats?: boolean
  readonly many?: number
  readonly count?: number
  readonly bytes?: number
}

const [file, role] = process.argv.slice(2) as [string, string]
const say = (fact: object) => void process.stdout.write(`${JSON.stringify(fact)}\n`)

const engine = await openEngine(file.startsWith('{') ? JSON.parse(file) : { file, share: true, durability: 'normal' })
say({ opened: process.pid })

if (role === 'worker') {
  const { defineJob } = await import('@millrace/engine')
  const job = defineJob<{ n: number; ms: number }>({ name: 'job', backoff: { type: 'fixed', delay: 10 }, maxAttempts: 1_000 })
  const handle = async ({ data, job: { run } }: { data: { n: number; ms: number }; job: { run: number } }) => {
    say({ started: data.n, run })
    if (data.ms > 0) await new Promise((resolve) => setTimeout(resolve, data.ms))
    say({ ran: data.n, run })
    return data.n
  }
  engine.work([job.handler(handle)], { concurrency: 8 })
}

for await (const line of createInterface({ input: process.stdin })) {
  const { enqueue, ms = 0, stop, stats, many, count = 0, bytes } = JSON.parse(line) as Order
  if (stop === true) {
    await engine.stop({ timeout: '5s' })
    say({ stopped: true })
    process.exit(0)
  }
  if (stats === true) say({ stats: (await engine.stats()).states })
  if (enqueue !== undefined) void acknowledge(enqueue, ms)
  if (many !== undefined) void acknowledgeMany(many, count, bytes)
}

/** All of a lot at once, until it is acknowledged; what is there of it is told after every attempt that was not. */
async function acknowledgeMany(many: number, count: number, bytes: number | undefined): Promise<void> {
  const data = bytes === undefined ? undefined : new Uint8Array(bytes)
  const jobs = Array.from({ length: count }, (_, index) => ({ job: 'lot', data, options: { idempotencyKey: `${many}-${index}` } }))
  for (;;) {
    const sent = engine.enqueueMany(jobs)
    setImmediate(() => say({ sent: many }))
    try {
      await sent
      say({ many })
      return
    } catch (error) {
      const { code, retryable } = error as { code?: string; retryable?: boolean }
      if (retryable !== true) {
        say({ failed: many, code, message: String(error) })
        return
      }
      const found = await engine.stats().catch(() => undefined)
      if (found !== undefined) say({ found: found.states.waiting, of: many })
    }
  }
}

/** Until it is acknowledged, whatever becomes of the owner. */
async function acknowledge(n: number, ms: number): Promise<void> {
  for (;;) {
    try {
      await engine.enqueue('job', { n, ms }, { idempotencyKey: `n-${n}`, maxAttempts: 1_000, timeout: '1m' })
      say({ acknowledged: n })
      return
    } catch (error) {
      const { code, retryable } = error as { code?: string; retryable?: boolean }
      if (retryable !== true) {
        say({ failed: n, code, message: String(error) })
        return
      }
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}

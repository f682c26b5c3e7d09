/**
 * Runs jobs that say every few milliseconds that they are alive, under a timeout that is not much longer: `beats.ts <file>`. Says
 * every begin, end and abort of a run. Told to `stop` it lets all jobs come to their end; told `stall N` it has the writer thread stand
 * still for N ms (with `stalling.ts` loaded before it), and says `stalled` once heartbeats are answered again.
 */
import { flushCompileCache } from 'node:module'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { BroadcastChannel } from 'node:worker_threads'
import { defineJob, MillraceError, openEngine } from '@millrace/engine'

const file = process.argv[2] as string
const TIMEOUT_MS = 600
const BEAT_MS = 30
const BEATS = 8
const PRODUCERS = 6

const say = (line: string) => process.stdout.write(`${line}\n`)
const codeOf = (error: unknown) => (error instanceof MillraceError ? error.code : `!${String(error).replaceAll('\n', ' ')}`)
const steady = defineJob({
  name: 'steady',
  timeout: TIMEOUT_MS,
  heartbeatTimeout: TIMEOUT_MS,
  maxAttempts: 1_000,
  backoff: { type: 'fixed', delay: 5 },
})

const engine = await openEngine({ file })
flushCompileCache()
engine.work([
  steady.handler(async ({ job, heartbeat, signal }) => {
    say(`run ${job.id} ${job.run} ${job.attempt}`)
    try {
      for (let beat = 0; beat < BEATS; beat++) {
        await heartbeat()
        await delay(BEAT_MS)
        signal.throwIfAborted()
      }
    } catch (error) {
      say(`aborted ${codeOf(error)}`)
      throw error
    } finally {
      say(`ended ${job.id} ${job.run}`)
    }
  }),
])
say('open')

let stopping = false
// Whoever started it is gone: nobody would end it.
process.stdin.on('end', () => process.exit(4))
const stalls = new BroadcastChannel('stall')
stalls.unref()
createInterface({ input: process.stdin }).on('line', (line) => {
  if (line === 'stop') stopping = true
  else {
    stalls.postMessage(Number(line.split(' ')[1]))
    // Behind the heartbeats that are sent meanwhile, for as long as nobody reads: one more round of each.
    setTimeout(() => void engine.stats().then(() => say('stalled')), BEAT_MS * 3)
  }
})

/** Jobs that are due a little later, by a wall clock that may jump: nobody is kept waiting for them but the end. */
const later: Promise<void>[] = []

async function enqueue(delayMs: number): Promise<void> {
  try {
    const handle = await engine.enqueue(steady, null, { delay: delayMs })
    say(`enqueued ${handle.id}`)
    await handle.result()
    say(`completed ${handle.id}`)
  } catch (error) {
    say(`refused ${codeOf(error)}`)
  }
}

async function produce(): Promise<void> {
  while (!stopping) {
    later.push(enqueue(20))
    await enqueue(0)
    await enqueue(0)
  }
}
await Promise.all(Array.from({ length: PRODUCERS }, produce))
await Promise.all(later)
await engine.stop()
say('stopped')
process.stdin.destroy()

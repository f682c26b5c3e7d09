/**
 * Enqueues, runs, completes and cancels without end, and says every acknowledgement once it has it: `torture.ts <file> <durability>
 * <cycle>`. To be killed at any moment.
 */
import { flushCompileCache } from 'node:module'
import { type JobHandle, openEngine } from '@millrace/engine'
import { handlersFor, jobs } from './jobs.ts'

const [file, durability, cycle] = process.argv.slice(2) as [string, 'full' | 'normal', string]
/** A pipe is written at once: what is said is said before a kill. */
const say = (line: string) => process.stdout.write(`${line}\n`)

say('starting')
const engine = await openEngine({ file, durability })
flushCompileCache()
engine.work(handlersFor(({ id, run, attempt }) => say(`run ${id} ${run} ${attempt}`)))
say('open')

const PRODUCERS = 24
const PADDING = 'x'.repeat(2_000)
let count = 0

function enqueue(turn: number): Promise<JobHandle> {
  switch (turn % 6) {
    case 0:
      return engine.enqueue(jobs.plain, { turn })
    case 1:
      return engine.enqueue(jobs.large, PADDING)
    case 2:
      return engine.enqueue(jobs.flaky, { turn })
    case 3:
      return engine.enqueue(jobs.parent, { children: turn % 4 })
    case 4:
      return engine.enqueue(jobs.plain, { turn }, { delay: turn % 20 })
    default:
      return enqueueKeyed(`${cycle}-${turn}`)
  }
}

async function enqueueKeyed(key: string): Promise<JobHandle> {
  const handle = await engine.enqueue(jobs.plain, { key }, { idempotencyKey: key })
  say(`keyed ${key} ${handle.id}`)
  return handle
}

async function produce(): Promise<void> {
  for (;;) {
    const turn = count++
    const handle = await enqueue(turn)
    say(`enqueued ${handle.id}`)
    void handle.result().then(() => say(`completed ${handle.id}`))
    if (turn % 10 === 0) await cancelOne()
  }
}

/** One that nobody serves, so that it is there to be cancelled. */
async function cancelOne(): Promise<void> {
  const { id } = await engine.enqueue(jobs.unserved)
  say(`enqueued ${id}`)
  await engine.cancel(id)
  say(`cancelled ${id}`)
}

/** What the cycle before asked for and may never have heard about: the same keys again. */
for (let turn = 5, before = Number(cycle) - 1; before >= 0 && turn < 200; turn += 6) await enqueueKeyed(`${before}-${turn}`)

await Promise.all(Array.from({ length: PRODUCERS }, produce))

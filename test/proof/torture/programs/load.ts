/**
 * Enqueues, runs (here and on threads), completes and cancels without end, and says every acknowledgement once it has it:
 * `load.ts <settings as JSON>`. To be killed, stopped and starved at any moment; or told to `stop`.
 */
import { flushCompileCache } from 'node:module'
import { createInterface } from 'node:readline'
import { setImmediate as nextRound } from 'node:timers/promises'
import { type Duration, defineJob, type Engine, type JobHandle, type JobInfo, MillraceError, openEngine } from '@millrace/engine'
import type { Threaded } from './threaded.ts'

export interface LoadSettings {
  readonly file: string
  /** Where runs on threads leave their traces. */
  readonly effects: string
  readonly durability?: 'full' | 'normal'
  /** Enqueue nothing; end once nothing is left to do. */
  readonly drain?: boolean
  readonly producers?: number
  /** Jobs for the thread pool that are open at a time. */
  readonly threaded?: number
  /** Of every job. */
  readonly bytes?: number
  /** End after so many refusals. */
  readonly refusalsMax?: number
  readonly waitForOwner?: Duration
}

const settings = JSON.parse(process.argv[2] as string) as LoadSettings
const { file, effects, durability = 'full', drain = false, producers = 16, threaded = 0, bytes = 20 } = settings
const { refusalsMax = Number.POSITIVE_INFINITY, waitForOwner = 0 } = settings
const BATCH = 10

/** A pipe is written at once: what is said is said before a kill. */
const say = (line: string) => process.stdout.write(`${line}\n`)
const codeOf = (error: unknown) => (error instanceof MillraceError ? error.code : `!${String(error).replaceAll('\n', ' ')}`)

// A kill uses an attempt of whatever runs: enough for every kill of a long night.
const policy = { backoff: { type: 'fixed', delay: 5 }, maxAttempts: 100_000 } as const
const inline = defineJob({ name: 'inline', ...policy })
const flaky = defineJob({ name: 'flaky', ...policy })
const batch = defineJob({ name: 'batch', queue: 'batches', ...policy })
const thread = defineJob<Threaded>({ name: 'threaded', ...policy })
/** Served only while what is left is done. */
const unserved = defineJob({ name: 'unserved', ...policy })

const begin = ({ id, run, attempt }: JobInfo) => say(`run ${id} ${run} ${attempt}`)
const end = ({ id, run }: JobInfo) => say(`ended ${id} ${run}`)

async function handle(job: JobInfo): Promise<void> {
  begin(job)
  await nextRound()
  end(job)
}

let stopping = false
let refusals = 0
const payload = 'x'.repeat(bytes)

async function refused(error: unknown): Promise<void> {
  say(`refused ${codeOf(error)}`)
  if (++refusals >= refusalsMax || codeOf(error) === 'ENGINE_FAILED') stopping = true
  await nextRound()
}

/** Says what becomes of a job that was acknowledged. */
async function watch(handle: JobHandle): Promise<void> {
  say(`enqueued ${handle.id}`)
  try {
    await handle.result()
    say(`completed ${handle.id}`)
  } catch (error) {
    say(`unresolved ${codeOf(error)}`)
  }
}

async function produceOne(engine: Engine, turn: number): Promise<void> {
  if (turn % 10 === 9) {
    const handles = await engine.enqueueMany(Array.from({ length: BATCH }, () => ({ job: batch, data: payload })))
    for (const handle of handles) void watch(handle)
  } else if (turn % 10 === 4) {
    const { id } = await engine.enqueue(unserved)
    say(`enqueued ${id}`)
    await engine.cancel(id)
    say(`cancelled ${id}`)
  } else {
    const options = turn % 7 === 6 ? { delay: turn % 20 } : {}
    void watch(await engine.enqueue(turn % 5 === 3 ? flaky : inline, payload, options))
  }
}

async function produce(engine: Engine): Promise<void> {
  for (let turn = 0; !stopping; turn++) await produceOne(engine, turn).catch(refused)
}

async function produceThreaded(engine: Engine): Promise<void> {
  while (!stopping) {
    try {
      await watch(await engine.enqueue(thread, { effects, rounds: 100 }))
    } catch (error) {
      await refused(error)
    }
  }
}

/** Resolves once no job has anything left to do. */
async function drained(engine: Engine): Promise<void> {
  let wake = () => {}
  engine.on('completed', () => wake())
  for (;;) {
    const changed = new Promise<void>((resolve) => {
      wake = resolve
    })
    const { waiting, scheduled, active } = (await engine.stats()).states
    if (waiting + scheduled + active === 0) return
    await changed
  }
}

say('starting')
const engine = await openEngine({ file, durability, waitForOwner }).catch((error) => {
  say(`not opened ${codeOf(error)}`)
  return process.exit(3)
})
flushCompileCache()
engine.work([
  inline.handler(({ job }) => handle(job)),
  batch.handler(({ job }) => handle(job)),
  flaky.handler(async ({ job }) => {
    await handle(job)
    if (job.attempt % 3 === 1) throw new Error('not yet')
  }),
  ...(drain ? [unserved.handler(({ job }) => handle(job))] : []),
])
if (threaded > 0 || drain) engine.work([thread.thread(new URL('./threaded.ts', import.meta.url), { threads: 2 })])
say('open')

// Whoever started it is gone: nobody would end it.
process.stdin.on('end', () => process.exit(4))
createInterface({ input: process.stdin }).on('line', () => {
  stopping = true
})
if (drain) await drained(engine)
else {
  await Promise.all([
    ...Array.from({ length: producers }, () => produce(engine)),
    ...Array.from({ length: threaded }, () => produceThreaded(engine)),
  ])
}
// All or nothing: batches are there whole.
const batches = await engine.stats().then(
  ({ queues }) => queues['batches'],
  () => undefined,
)
if (batches === undefined) say('remainder 0')
else {
  const { waiting, scheduled, active, completed } = batches
  say(`remainder ${(waiting + scheduled + active + completed) % BATCH}`)
}
await engine.stop().catch(() => {})
say('stopped')
process.stdin.destroy()

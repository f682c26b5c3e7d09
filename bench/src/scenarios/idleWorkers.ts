/**
 * Whole jobs in the engine's process, while so many workers in another one wait for jobs that never come, each over a connection of its
 * own; and what those cost the engine's process in memory. They come and go, so that both speeds are of the same process and the same
 * seconds: what a machine does by the way hits both.
 */
import { join } from 'node:path'
import { openEngine } from '@millrace/engine'
import { listen } from '@millrace/remote'
import { checkCompleted } from '../check.ts'
import { keepInFlight } from '../inFlight.ts'
import { noop } from '../jobs.ts'
import type { Figures, Scenario } from '../measurement.ts'
import { memory, startMeter } from '../meter.ts'
import { payloadOf } from '../payload.ts'
import { median } from '../quantile.ts'
import { startWorkerProcess, type WorkerProcess } from '../workerProcess.ts'
import { endOf } from './end.ts'

const KEPT = 1_000_000_000
/** Of both, an even number. */
const ROUNDS = 12
/** Before each stretch that counts: what their coming and going left behind is collected. */
const WARM_UP = 0.25

export const idleWorkers: Scenario = async ({ file, durability, jobs, inFlight, concurrency, workers }) => {
  // All are kept: each is looked at in the end.
  const engine = await openEngine({ file, durability, retention: { completed: { count: KEPT } } })
  const server = await listen(engine, `unix:${join(file, '..', 'sock')}`)
  let handled = 0
  let wanted = 0
  let allHandled = Promise.withResolvers<void>()
  const worker = engine.work(
    noop.handler(() => {
      if (++handled === wanted) allHandled.resolve()
    }),
    { concurrency },
  )
  const work = async (some: number): Promise<Figures> => {
    wanted += some
    allHandled = Promise.withResolvers()
    const stop = startMeter()
    await keepInFlight(inFlight, some, (index) => engine.enqueue(noop, payloadOf(index)))
    await allHandled.promise
    return stop(some)
  }

  const startIdle = () => startWorkerProcess({ url: server.url, concurrency: 1, workers, job: 'never' })
  // Before any work, whose garbage would make room for them.
  const before = memory()['rssMb'] as number
  const first = await startIdle()
  const idleWorkersMb = (memory()['rssMb'] as number) - before
  await first.stop()

  const stretch = Math.max(1, Math.floor(jobs / (2 * ROUNDS * (1 + WARM_UP))))
  const warmUp = Math.ceil(stretch * WARM_UP)
  const alone: Figures[] = []
  const beside: Figures[] = []
  let idle: WorkerProcess | undefined
  for (let round = 0; round < ROUNDS; round++) {
    // Without and with, with and without: a file that grows, and a heap, make neither look slower.
    for (const present of round % 2 === 0 ? [false, true] : [true, false]) {
      if (present) idle ??= await startIdle()
      else {
        await idle?.stop()
        idle = undefined
      }
      const attached = (await engine.stats()).workers - 1
      if (attached !== (present ? workers : 0)) throw new Error(`${attached} of ${workers} workers are attached`)
      await work(warmUp)
      ;(present ? beside : alone).push(await work(stretch))
    }
  }
  await worker.stop()
  await server.close()
  const end = await endOf(engine, file, handled)
  checkCompleted(file, 'noop', handled)

  const of = (all: readonly Figures[], name: string) => median(all.map((figures) => figures[name] as number))
  return {
    ...end,
    ofNone: median(beside.map(({ jobsPerSecond }, round) => (jobsPerSecond as number) / (alone[round]?.['jobsPerSecond'] as number))),
    jobsPerSecond: of(beside, 'jobsPerSecond'),
    jobsPerSecondAlone: of(alone, 'jobsPerSecond'),
    mainMicrosPerJob: of(beside, 'mainMicrosPerJob'),
    mainMicrosPerJobAlone: of(alone, 'mainMicrosPerJob'),
    writerMicrosPerJob: of(beside, 'writerMicrosPerJob'),
    writerMicrosPerJobAlone: of(alone, 'writerMicrosPerJob'),
    idleWorkersMb,
    rssPeakMb: Math.max(...beside.map(({ rssPeakMb }) => rssPeakMb as number)),
  }
}

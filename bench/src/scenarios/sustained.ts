/**
 * Flat out for minutes, with the retention that is the default: whether the speed holds, and whether the file, its WAL, the memory
 * and a turn's length stay bounded. Says how it goes on stderr.
 */
import { statSync } from 'node:fs'
import { type Engine, openEngine } from '@millrace/engine'
import { checkIntegrity, countRows } from '../check.ts'
import { noop } from '../jobs.ts'
import type { Figures, Scenario } from '../measurement.ts'
import { memory } from '../meter.ts'
import { payloadOf } from '../payload.ts'
import { quantile } from '../quantile.ts'

const SAMPLE_MS = 1_000
const SAMPLES_MIN = 10
const SAY_EVERY = 15
const MIB = 2 ** 20

interface Sample {
  readonly handled: number
  readonly atMs: number
  readonly turnP99Ms: number
  readonly fileMb: number
  readonly walMb: number
  readonly rssMb: number
}

export const sustained: Scenario = async ({ file, durability, seconds, inFlight, concurrency }) => {
  const engine = await openEngine({ file, durability })
  let handled = 0
  let enqueued = 0
  let going = true
  const worker = engine.work(
    noop.handler(() => void handled++),
    { concurrency },
  )
  const produce = async () => {
    while (going) await engine.enqueue(noop, payloadOf(enqueued++ % 1_000_000))
  }
  const beginMs = performance.now()
  const producers = Promise.all(Array.from({ length: inFlight }, produce))
  const everyMs = Math.min(SAMPLE_MS, (seconds * 1_000) / SAMPLES_MIN)
  const samples: Sample[] = []
  while (performance.now() - beginMs < seconds * 1_000) {
    await new Promise((resolve) => setTimeout(resolve, everyMs))
    samples.push(await sampleOf(engine, file, handled, performance.now() - beginMs))
    if (samples.length % SAY_EVERY === 0) process.stderr.write(`  ${JSON.stringify(samples.at(-1))}\n`)
  }
  going = false
  await producers
  await drained(() => handled === enqueued)
  await worker.stop()
  const { totals } = await engine.stats()
  await engine.stop()
  if (totals.completed !== enqueued) throw new Error(`${totals.completed} of ${enqueued} jobs were completed`)
  checkIntegrity(file)
  return { ...summary(samples), jobs: enqueued, keptJobs: countRows(file, 'noop', 'state = 4') }
}

async function sampleOf(engine: Engine, file: string, handled: number, atMs: number): Promise<Sample> {
  const { writer } = await engine.stats()
  const mbOf = (path: string) => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) / MIB
  const { rssMb = 0 } = memory()
  return { handled, atMs, turnP99Ms: writer.commitMsP99, fileMb: mbOf(file), walMb: mbOf(`${file}-wal`), rssMb }
}

async function drained(done: () => boolean): Promise<void> {
  while (!done()) await new Promise((resolve) => setTimeout(resolve, 10))
}

/** The second half says whether something still grows. */
function summary(samples: readonly Sample[]): Figures {
  const at = (share: number) => samples[Math.min(samples.length - 1, Math.floor(share * samples.length))] as Sample
  const rate = (from: Sample, to: Sample) => ((to.handled - from.handled) / (to.atMs - from.atMs)) * 1_000
  const [first, fifth, half, last] = [at(0), at(0.2), at(0.5), at(1)]
  return {
    jobsPerSecond: rate(first, last),
    firstFifthPerSecond: rate(first, fifth),
    lastFifthPerSecond: rate(at(0.8), last),
    turnP99Ms: quantile(
      samples.map(({ turnP99Ms }) => turnP99Ms),
      0.5,
    ),
    turnP99MaxMs: Math.max(...samples.map(({ turnP99Ms }) => turnP99Ms)),
    fileHalfMb: half.fileMb,
    fileMb: last.fileMb,
    walMaxMb: Math.max(...samples.map(({ walMb }) => walMb)),
    rssHalfMb: half.rssMb,
    rssMb: last.rssMb,
  }
}

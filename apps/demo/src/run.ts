/** One run over a folder: begun or continued, then worked off until nothing is left of it. */
import { setTimeout } from 'node:timers/promises'
import { type Engine, openEngine, type Stats } from '@millrace/engine'
import { CommandError } from './commandError.ts'
import { forPeople } from './filePath.ts'
import { hash, QUEUE, scan } from './jobs.ts'
import { ownFilesTest } from './ownFiles.ts'
import type { Snapshot } from './progress.ts'
import { scanHandler } from './scan.ts'
import type { Part } from './scanFolder.ts'

/** A run may rest for years before it is continued. */
const FOREVER = { days: 36_500 }
/** The report is made of all its jobs. */
const KEEP_ALL = { age: FOREVER, count: 1_000_000_000 } as const
const SCANS = 64
const THREADS = 2
/** Far more than threads, so that the next file is there when one is done; topped up in batches. */
const HASHES = { minConcurrency: 64, maxConcurrency: 256 }
const LOOK_EVERY_MS = 100

export interface Run {
  readonly engine: Engine
  /** The number of jobs that earlier sessions have done; undefined for a new run. */
  readonly doneBefore: number | undefined
}

export async function openRun(folder: string, file: string): Promise<Run> {
  const engine = await openEngine({ file, retention: { completed: KEEP_ALL, failed: KEEP_ALL } })
  try {
    const stats = await engine.stats()
    if (Object.keys(stats.queues).some((queue) => queue !== QUEUE)) throw new CommandError(`${file} is the queue of another program`)
    // One job for ever, however often the command is started: from it all others come.
    const root = await engine.enqueue(scan, { path: folder }, { idempotencyKey: 'root', idempotencyTtl: FOREVER })
    if (root.created) return { engine, doneBefore: undefined }
    await assertSameFolder(engine, root.id, folder, file)
    return { engine, doneBefore: doneOf(stats.states) }
  } catch (error) {
    await engine.stop()
    throw error
  }
}

async function assertSameFolder(engine: Engine, rootId: string, folder: string, file: string): Promise<void> {
  const root = await engine.get(rootId)
  const other = (root?.data as Part | undefined)?.path ?? 'another folder'
  if (other === folder) return
  throw new CommandError(`${file} holds an unfinished run over ${forPeople(other)}: finish that one, or name another --file`)
}

/** The work of one session: jobs finished in it, and in the whole run. */
export interface Session {
  readonly jobs: number
  readonly jobsOfRun: number
  readonly ms: number
}

/** Runs jobs until none is left. Rejects with the signal's reason when it aborts. */
export async function workOff(run: Run, file: string, signal: AbortSignal, show: (snapshot: Snapshot) => void): Promise<Session> {
  const { engine, doneBefore = 0 } = run
  const startMono = performance.now()
  engine.work([scanHandler(ownFilesTest(file))], { concurrency: SCANS })
  engine.work(
    [hash.thread(new URL('./hashFile.ts', import.meta.url), { threads: THREADS, prefetch: HASHES.maxConcurrency - THREADS })],
    HASHES,
  )
  for (;;) {
    const { states } = await engine.stats()
    const ms = performance.now() - startMono
    const done = doneOf(states)
    const total = Object.values(states).reduce((sum, jobs) => sum + jobs, 0)
    show({ done, total, failed: states.failed, perSecond: (done - doneBefore) / (ms / 1_000) })
    // A job's children are there as soon as it is done: when none is left, none will come.
    if (done === total) return { jobs: done - doneBefore, jobsOfRun: done, ms }
    await setTimeout(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
    signal.throwIfAborted()
  }
}

function doneOf({ completed, failed, cancelled }: Stats['states']): number {
  return completed + failed + cancelled
}

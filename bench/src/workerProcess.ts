/** Workers in a process of their own. This file is both: what starts it, and what it runs (`workerProcess.ts URL CONCURRENCY WORKERS JOB HANDLER`). */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { connect, defineJob } from '@millrace/remote'
import { handlerKind } from './handlers.ts'
import { noop } from './jobs.ts'

export interface WorkerProcess {
  /** Resolves, once it has ended, with the microseconds of the processor that its work has taken. */
  stop(): Promise<number>
}

const SCRIPT = fileURLToPath(import.meta.url)

export interface WorkerProcessOptions {
  readonly url: string
  /** Each worker has so many places. */
  readonly concurrency: number
  /** Each has a connection of its own; default 1. */
  readonly workers?: number
  /** What they wait for. */
  readonly job?: string
  /** A name in `handlers.ts`, for the job that is measured. */
  readonly handler?: string
}

/** Resolves when it is ready for jobs. */
export async function startWorkerProcess({
  url,
  concurrency,
  workers = 1,
  job = noop.name,
  handler = 'empty',
}: WorkerProcessOptions): Promise<WorkerProcess> {
  const child = fork(SCRIPT, [url, String(concurrency), String(workers), job, handler])
  process.once('exit', () => child.kill())
  await once(child, 'message')
  return {
    async stop() {
      child.send('stop')
      const [micros] = (await once(child, 'message')) as [number]
      await once(child, 'exit')
      return micros
    },
  }
}

async function main(url: string, concurrency: number, workers: number, job: string, kind: string): Promise<void> {
  const handler = job === noop.name ? handlerKind(kind).handler(() => {}) : defineJob({ name: job }).handler(() => {})
  const engines = await Promise.all(
    Array.from({ length: workers }, async () => {
      const engine = await connect(url)
      engine.work(handler, { concurrency })
      // Answered after the worker is known.
      await engine.stats()
      return engine
    }),
  )
  const before = process.cpuUsage()
  process.send?.('ready')
  await once(process, 'message')
  const { user, system } = process.cpuUsage(before)
  await Promise.all(engines.map((engine) => engine.stop()))
  process.send?.(user + system)
  process.disconnect()
}

if (process.argv[1] === SCRIPT) {
  const [url = '', concurrency, workers, job = '', handler = ''] = process.argv.slice(2)
  await main(url, Number(concurrency), Number(workers), job, handler)
}

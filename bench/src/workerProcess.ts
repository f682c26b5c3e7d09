/** A worker in a process of its own. This file is both: what starts it, and what it runs (`workerProcess.ts URL CONCURRENCY`). */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { connect } from '@millrace/remote'
import { noop } from './jobs.ts'

export interface WorkerProcess {
  /** Resolves, once it has ended, with the microseconds of the processor that its work has taken. */
  stop(): Promise<number>
}

const SCRIPT = fileURLToPath(import.meta.url)

/** Resolves when it is ready for jobs. */
export async function startWorkerProcess(url: string, concurrency: number): Promise<WorkerProcess> {
  const child = fork(SCRIPT, [url, String(concurrency)])
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

async function main(url: string, concurrency: number): Promise<void> {
  const engine = await connect(url)
  engine.work(
    noop.handler(() => {}),
    { concurrency },
  )
  // Answered after the worker is known.
  await engine.stats()
  const before = process.cpuUsage()
  process.send?.('ready')
  await once(process, 'message')
  const { user, system } = process.cpuUsage(before)
  await engine.stop()
  process.send?.(user + system)
  process.disconnect()
}

if (process.argv[1] === SCRIPT) await main(process.argv[2] ?? '', Number(process.argv[3]))

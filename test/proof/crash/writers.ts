/** The writer threads of this process, to be killed: they are ordinary worker threads, and Node tells of each. */
import type { Worker } from 'node:worker_threads'
import { onTestFinished } from 'vitest'

export interface Writers {
  /** Started so far, the first included. */
  readonly count: number
  /** Kills the one that runs; resolves when it is gone. */
  kill(): Promise<void>
  /** Makes it throw, outside of any turn. */
  makeThrow(): Promise<void>
}

/** To be called before the engine is opened. */
export function watchWriters(): Writers {
  const writers: Worker[] = []
  const listener = (worker: Worker) => {
    if (worker.threadName === 'millrace-writer') writers.push(worker)
  }
  process.on('worker', listener)
  onTestFinished(() => {
    process.off('worker', listener)
  })
  const last = () => writers.at(-1) as Worker
  return {
    get count() {
      return writers.length
    },
    async kill() {
      await last().terminate()
    },
    async makeThrow() {
      const exited = new Promise<void>((resolve) => last().once('exit', () => resolve()))
      last().postMessage({ kind: 'connect', channel: 'no channel' })
      await exited
    },
  }
}

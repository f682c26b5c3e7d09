/** The threads of a pool of runs. */
import { MessageChannel, receiveMessageOnPort, type WorkerOptions } from 'node:worker_threads'
import type { Clock } from '@millrace/core'
import type { Settlement } from '../execute.ts'
import type { ThreadHandler } from '../pools/handler.ts'
import type { FromRun, Task } from '../pools/messages.ts'
import type { Places, StartedRun } from '../pools/places.ts'
import { within } from '../within.ts'
import { threadFile } from './start.ts'
import { ThreadPool } from './threadPool.ts'

export const runThreadFile = (): URL => threadFile('millrace-thread', import.meta.url)

export class Threads implements Places {
  readonly #settings: ThreadHandler['settings']
  readonly #clock: Clock
  #pool: ThreadPool | undefined

  constructor({ settings }: ThreadHandler, clock: Clock) {
    this.#settings = settings
    this.#clock = clock
  }

  start(task: Task, hear: (message: FromRun) => void): StartedRun {
    this.#pool ??= this.#open()
    const pool = this.#pool
    const { port1, port2 } = new MessageChannel()
    const killer = new AbortController()
    port1.on('message', hear)
    /** Takes the remaining messages: the result may overtake them, on another channel. */
    const drain = () => {
      for (let received = receiveMessageOnPort(port1); received !== undefined; received = receiveMessageOnPort(port1))
        hear(received.message)
    }
    const run = async (): Promise<Settlement> => {
      try {
        const call = pool.call({ ...task, channel: port2 }, { transfer: [port2], signal: killer.signal })
        return (await call.finally(drain)) as Settlement
      } finally {
        port1.close()
      }
    }
    return { ended: run(), say: (message) => port1.postMessage(message), kill: () => killer.abort() }
  }

  async close(ms: number): Promise<void> {
    if (this.#pool === undefined) return
    await within(this.#clock, ms, this.#pool.callEach('teardown'))
    await this.#pool.close()
  }

  #open(): ThreadPool {
    const { threads, prefetch: _prefetch, ...options } = this.#settings
    return new ThreadPool(runThreadFile(), threads, { name: 'run', ...options } as WorkerOptions)
  }
}

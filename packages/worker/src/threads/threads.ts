/** The threads of a pool, which Piscina keeps. */
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import type { Clock } from '@millrace/core'
import type { Piscina } from 'piscina'
import type { ThreadHandler } from '../pools/handler.ts'
import type { FromRun, Task } from '../pools/messages.ts'
import type { Places, StartedRun } from '../pools/places.ts'
import type { Settlement } from '../settlement.ts'
import { within } from '../within.ts'
import { threadFile, threadOptions } from './start.ts'

export const runThreadFile = (): URL => threadFile('millrace-thread', import.meta.url)

type PiscinaOptions = NonNullable<ConstructorParameters<typeof Piscina>[0]>

export class Threads implements Places {
  readonly #count: number
  readonly #pool: Promise<Piscina>
  readonly #clock: Clock

  constructor({ settings: { threads, prefetch: _prefetch, ...settings } }: ThreadHandler, clock: Clock) {
    this.#count = threads
    this.#clock = clock
    this.#pool = openPool(runThreadFile(), {
      name: 'run',
      minThreads: threads,
      maxThreads: threads,
      // Timers, sockets and anything else that `setup` starts continue between runs.
      atomics: 'disabled',
      ...threadOptions(),
      ...(settings as Pick<PiscinaOptions, 'resourceLimits' | 'execArgv' | 'env'>),
    })
    // Every run reports it.
    this.#pool.catch(() => {})
  }

  start(task: Task, hear: (message: FromRun) => void): StartedRun {
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
        const pool = await this.#pool
        return await pool.run({ ...task, channel: port2 }, { transferList: [port2], signal: killer.signal }).finally(drain)
      } finally {
        port1.close()
      }
    }
    return { ended: run(), say: (message) => port1.postMessage(message), kill: () => killer.abort() }
  }

  async close(ms: number): Promise<void> {
    const pool = await this.#pool.catch(() => undefined)
    if (pool === undefined) return
    const torn = Promise.allSettled(Array.from({ length: this.#count }, () => pool.run(undefined, { name: 'teardown' })))
    await within(this.#clock, ms, torn)
    await pool.destroy()
  }
}

/** Opens a pool. Piscina is loaded late: in a bundle, it would throw before anything could say what to do about bundles. */
async function openPool(file: URL, options: PiscinaOptions): Promise<Piscina> {
  const { Piscina } = await import('piscina')
  const pool = new Piscina({ ...options, filename: file.href })
  // A thread that dies without a run has nobody to report to: the pool replaces it, and the run that hits it fails with an error.
  pool.on('error', () => {})
  return pool
}

/** Read-only threads for pages of jobs, so that a long page never delays a turn. They start with the first question. */

import type { Clock, CommandOf, ReplyOf } from '@millrace/core'
import { threadOptions } from '@millrace/worker'
import type { Piscina } from 'piscina'
import { systemClock } from '../clock.ts'
import type { ThreadModule } from '../storeModule.ts'

/**
 * The longest wait for an answer. A thread that the system cannot start, perhaps for lack of descriptors, is not always
 * reported as failed. The limit makes sure that every call is answered.
 */
export const ANSWER_MS = 60_000

/** The operations that readers answer. */
export type Paged = 'list' | 'getFlow' | 'listFlows' | 'history'

export class Readers {
  readonly #module: ThreadModule
  readonly #threads: number
  readonly #clock: Clock
  #pool: Promise<Piscina> | undefined
  #closed = false

  constructor(module: ThreadModule, threads: number, clock: Clock = systemClock) {
    this.#module = module
    this.#threads = threads
    this.#clock = clock
  }

  /** True if nothing is read any more, because the engine is ending. */
  get closed(): boolean {
    return this.#closed
  }

  async page(command: CommandOf<Paged>): Promise<ReplyOf[Paged]> {
    // Other threads may ask until they learn of the end. A pool that was opened for them would outlive the engine.
    if (this.#closed) throw new Error('the engine is ending')
    const late = new AbortController()
    const forget = this.#clock.setTimer(ANSWER_MS, () => late.abort())
    try {
      this.#pool ??= this.#open()
      const pool = await this.#pool
      return await pool.run(command, { signal: late.signal })
    } catch (cause) {
      throw late.signal.aborted ? new Error(`no reader thread has answered within ${ANSWER_MS} ms`, { cause }) : cause
    } finally {
      forget()
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    const pool = await this.#pool?.catch(() => undefined)
    this.#pool = undefined
    await pool?.destroy()
  }

  async #open(): Promise<Piscina> {
    // Loaded late: in a bundle, it would throw before the engine could say what to do about bundles.
    const { Piscina } = await import('piscina')
    // Equal bounds: a pool that grows strands queued tasks when one of its threads is ended.
    const pool = new Piscina({
      filename: this.#module.file().href,
      name: 'page',
      minThreads: this.#threads,
      maxThreads: this.#threads,
      workerData: this.#module.options,
      ...threadOptions(),
    })
    // A thread that cannot start fails the question that it was for. Without a listener, the event would end the host.
    pool.on('error', () => {})
    return pool
  }
}

/** Read-only threads for pages of jobs, so that a long page never delays a turn. They start with the first question. */

import type { Clock, CommandOf, ReplyOf } from '@millrace/core'
import { ThreadPool } from '@millrace/worker'
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
  #pool: ThreadPool | undefined
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
      this.#pool ??= new ThreadPool(this.#module.file(), this.#threads, { name: 'page', workerData: this.#module.options })
      return (await this.#pool.call(command, { signal: late.signal })) as ReplyOf[Paged]
    } catch (cause) {
      throw late.signal.aborted ? new Error(`no reader thread has answered within ${ANSWER_MS} ms`, { cause }) : cause
    } finally {
      forget()
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#pool?.close()
  }
}

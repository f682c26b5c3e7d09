/** How many requests run to each host. A queue is there for as long as its host has something: no more of them than jobs that run. */
import type { Clock } from '@millrace/core'
import PQueue from 'p-queue'

/** The turn has not come in time; nothing was done. */
export const BUSY = Symbol('busy')

export interface HostsOptions {
  readonly perHost: number
  readonly waitMs: number
  readonly clock: Clock
}

export class Hosts {
  readonly #options: HostsOptions
  readonly #queues = new Map<string, PQueue>()

  constructor(options: HostsOptions) {
    this.#options = options
  }

  /** Hosts with something running or waiting. */
  get size(): number {
    return this.#queues.size
  }

  /** Does the work when it is its turn, or answers BUSY. Rejects with the signal's reason where that comes first. */
  async run<Result>(host: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result | typeof BUSY> {
    const queue = this.#queueOf(host)
    // Most find room: they need no timer.
    if (queue.size === 0 && queue.pending < queue.concurrency) return queue.add(work)
    const leaving = new AbortController()
    const leave = () => leaving.abort(signal.reason)
    const forget = this.#options.clock.setTimer(this.#options.waitMs, () => leaving.abort(BUSY))
    signal.addEventListener('abort', leave)
    const stay = () => {
      forget()
      signal.removeEventListener('abort', leave)
    }
    try {
      signal.throwIfAborted()
      return await queue.add(
        () => {
          stay()
          return work()
        },
        { signal: leaving.signal },
      )
    } catch (error) {
      if (error === BUSY) return BUSY
      throw error
    } finally {
      stay()
    }
  }

  #queueOf(host: string): PQueue {
    const known = this.#queues.get(host)
    if (known !== undefined) return known
    const queue = new PQueue({ concurrency: this.#options.perHost })
    queue.addEventListener('idle', () => this.#queues.delete(host))
    this.#queues.set(host, queue)
    return queue
  }
}

/** Limits the concurrent requests to each host. A host has a queue only while it has requests: at most as many queues as running jobs. */
import type { Clock } from '@millrace/core'
import PQueue from 'p-queue'

/** The result if the turn did not come in time. The work was not started. */
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

  /** The number of hosts with running or waiting requests. */
  get size(): number {
    return this.#queues.size
  }

  /** Runs the work when its turn comes, or resolves with BUSY. Rejects with the signal's reason if that aborts first. */
  async run<Result>(host: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result | typeof BUSY> {
    const queue = this.#queueOf(host)
    // Most requests find a free slot, and need no timer.
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

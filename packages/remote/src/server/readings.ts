/**
 * Sends the requests of a connection to the engine in order, with a limit for the jobs that are read at a time. Sends no readings
 * while the client does not read its answers: requests are small, and their answers are not.
 */
import { type Reply, type Request, traitsOf } from '@millrace/core'
import { BOUNDS } from '../limits.ts'

export class Readings {
  readonly #send: (requests: readonly Request[]) => void
  readonly #isRead: () => boolean
  /** Requests that wait for room: everything behind a reading waits, too. */
  #waiting: readonly Request[] = []
  /** The number of jobs of each reading that is not answered yet, by its request. */
  readonly #jobs = new Map<number, number>()
  #count = 0

  /** @param isRead true if the client has read enough of its answers to get more */
  constructor(send: (requests: readonly Request[]) => void, isRead: () => boolean) {
    this.#send = send
    this.#isRead = isRead
  }

  ask(requests: readonly Request[]): void {
    this.#waiting = this.#waiting.length === 0 ? requests : [...this.#waiting, ...requests]
    this.#pass()
    if (this.#waiting.length > 0) this.#renew()
  }

  answer(replies: readonly Reply[]): void {
    if (this.#jobs.size > 0) {
      for (const { id } of replies) {
        this.#count -= this.#jobs.get(id) ?? 0
        this.#jobs.delete(id)
      }
    }
    this.resume()
  }

  /** Called when the client may have read its answers. */
  resume(): void {
    if (this.#waiting.length > 0) this.#pass()
  }

  /** Sends the renewals that wait: a worker lives, however long the readings of its process take. */
  #renew(): void {
    const renewals = this.#waiting.filter(({ command }) => command.op === 'renew')
    if (renewals.length === 0) return
    this.#waiting = this.#waiting.filter(({ command }) => command.op !== 'renew')
    this.#send(renewals)
  }

  #pass(): void {
    const waiting = this.#waiting
    const isRead = this.#isRead()
    let taken = 0
    for (const { id, command } of waiting) {
      const { reads, jobsRead } = traitsOf(command.op)
      if (!isRead && reads !== 'nothing') break
      const jobs = jobsRead?.(command) ?? 0
      // A request that alone exceeds the limit goes alone.
      if (jobs > 0 && this.#count > 0 && this.#count + jobs > BOUNDS.jobsRead) break
      if (jobs > 0) this.#jobs.set(id, (this.#jobs.get(id) ?? 0) + jobs)
      this.#count += jobs
      taken++
    }
    this.#waiting = taken === waiting.length ? [] : waiting.slice(taken)
    if (taken > 0) this.#send(taken === waiting.length ? waiting : waiting.slice(0, taken))
  }
}

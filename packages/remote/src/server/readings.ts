/**
 * What a connection asks of the engine, in its order, with a bound on the jobs that are read at a time, and none while its client does not
 * read what it was told: the requests are small, and their answers are not.
 */
import { type Reply, type Request, traitsOf } from '@millrace/core'
import { BOUNDS } from '../limits.ts'

export class Readings {
  readonly #send: (requests: readonly Request[]) => void
  readonly #isRead: () => boolean
  /** Waits for room: everything behind a reading, too. */
  #waiting: readonly Request[] = []
  /** Jobs of readings that are not answered yet, by their request. */
  readonly #jobs = new Map<number, number>()
  #count = 0

  /** @param isRead whether the client has read enough of its answers to be given more */
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

  /** The client may have read what it was told. */
  resume(): void {
    if (this.#waiting.length > 0) this.#pass()
  }

  /** A worker lives, however long what its process reads takes. */
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
      // One that alone is more than that goes alone.
      if (jobs > 0 && this.#count > 0 && this.#count + jobs > BOUNDS.jobsRead) break
      if (jobs > 0) this.#jobs.set(id, (this.#jobs.get(id) ?? 0) + jobs)
      this.#count += jobs
      taken++
    }
    this.#waiting = taken === waiting.length ? [] : waiting.slice(taken)
    if (taken > 0) this.#send(taken === waiting.length ? waiting : waiting.slice(0, taken))
  }
}

/** All questions that are asked now, by their address: whoever asks the same shares one answer. */
import { signal } from '@preact/signals'
import type { Answers, Path, Query } from '../api/answers.ts'
import { type Api, queryText } from '../api/client.ts'
import type { ApiError } from '../api/problem.ts'
import type { Clock } from '../clock.ts'
import { Pace } from './pace.ts'
import { Poll } from './poll.ts'

/** Since when the API is out of reach, and why. */
export interface Down {
  readonly since: number
  readonly reason: string
}

/** Answers that nobody looks at any more stay for those who come back. */
const KEPT = 24

export class Live {
  readonly pace = new Pace()
  readonly down = signal<Down | undefined>(undefined)
  readonly #api: Api
  readonly #clock: Clock
  readonly #polls = new Map<string, Poll<unknown>>()

  constructor(api: Api, clock: Clock) {
    this.#api = api
    this.#clock = clock
  }

  /** Returns the question of this address; it is asked while somebody uses it. */
  poll<P extends Path>(path: P, query: Query = {}, every = 1): Poll<Answers[P]> {
    // The same for times that move with the clock.
    const address = path + queryText(query, 0)
    const poll = this.#polls.get(address) ?? this.#add(address, path, query, every)
    return poll as Poll<Answers[P]>
  }

  /** Asks everything now: after a change. */
  refresh(): void {
    for (const poll of this.#polls.values()) poll.refresh()
  }

  #add(address: string, path: Path, query: Query, every: number): Poll<unknown> {
    const poll = new Poll<unknown>({
      ask: (signal) => this.#api.get(path, query, signal),
      pace: this.pace,
      clock: this.#clock,
      every,
      settled: (error) => this.#settled(error),
    })
    this.#polls.set(address, poll)
    this.#forget()
    return poll
  }

  /** The oldest that nobody uses go first. */
  #forget(): void {
    const unused = [...this.#polls].filter(([, poll]) => !poll.isUsed).map(([address]) => address)
    for (const address of unused.slice(0, Math.max(0, unused.length - KEPT))) this.#polls.delete(address)
  }

  #settled(error: ApiError | undefined): void {
    if (error === undefined) this.down.value = undefined
    else if (error.isDown) this.down.value ??= { since: this.#clock.now(), reason: error.message }
    else if (error.status === 401) this.pace.over.value = true
  }
}

/** One question that is asked again and again while somebody looks at its answer: at most one request in flight. */
import { effect, type ReadonlySignal, signal } from '@preact/signals'
import { ApiError } from '../api/problem.ts'
import type { Clock } from '../clock.ts'
import { delayMs, type Pace } from './pace.ts'
import { share } from './share.ts'

export interface QueryState<T> {
  /** The last answer; undefined until there is one. */
  readonly value: T | undefined
  /** Why the last question failed; undefined if it was answered. */
  readonly error: ApiError | undefined
}

export interface PollOptions<T> {
  readonly ask: (signal: AbortSignal) => Promise<T>
  readonly pace: Pace
  readonly clock: Clock
  /** Asked at each `every`th beat of the rate. */
  readonly every: number
  /** Hears how each question ended: undefined if it was answered. */
  readonly settled: (error: ApiError | undefined) => void
}

export class Poll<T> {
  readonly #options: PollOptions<T>
  readonly #state = signal<QueryState<T>>({ value: undefined, error: undefined })
  #users = 0
  #errors = 0
  #asking: AbortController | undefined
  #again = false
  #isEnded = false
  #callOff: (() => void) | undefined
  #endWatch: (() => void) | undefined

  constructor(options: PollOptions<T>) {
    this.#options = options
  }

  get state(): ReadonlySignal<QueryState<T>> {
    return this.#state
  }

  get isUsed(): boolean {
    return this.#users > 0
  }

  /** Asks at once and from now on. Returns a function that ends it; the last one stops the questions. */
  use(): () => void {
    this.#users++
    if (this.#users === 1) this.#start()
    let used = true
    return () => {
      if (used && --this.#users === 0) this.#stop()
      used = false
    }
  }

  /** Stops the questions, because the answer is gone, until somebody looks again who is the first. */
  end(): void {
    this.#isEnded = true
    this.#stop()
  }

  /** Asks now; if a question is in flight, again once it is answered. */
  refresh(): void {
    if (this.#asking !== undefined) this.#again = true
    else if (this.isUsed && !this.#isEnded) void this.#ask()
  }

  #start(): void {
    const { pace } = this.#options
    let first = true
    this.#isEnded = false
    this.#endWatch = effect(() => {
      const running = pace.running.value
      pace.rateMs.value
      if (running || first) this.refresh()
      else this.#wait()
      first = false
    })
  }

  #stop(): void {
    this.#endWatch?.()
    this.#callOff?.()
    this.#asking?.abort()
    this.#asking = undefined
    this.#again = false
  }

  async #ask(): Promise<void> {
    this.#callOff?.()
    const asking = new AbortController()
    this.#asking = asking
    const outcome = await this.#options.ask(asking.signal).then((value) => ({ value }), errorOf)
    // Nobody looks any more, or it was asked anew since.
    if (this.#asking !== asking) return
    this.#asking = undefined
    this.#hear(outcome)
    if (this.#again) {
      this.#again = false
      void this.#ask()
    } else this.#wait()
  }

  #hear(outcome: { readonly value: T } | ApiError): void {
    const { value } = this.#state.peek()
    if (outcome instanceof ApiError) {
      this.#errors++
      this.#state.value = { value, error: outcome }
      this.#options.settled(outcome)
      return
    }
    this.#errors = 0
    const shared = share(value, outcome.value)
    if (shared !== value || this.#state.peek().error !== undefined) this.#state.value = { value: shared, error: undefined }
    this.#options.settled(undefined)
  }

  #wait(): void {
    const { pace, clock, every } = this.#options
    this.#callOff?.()
    if (!pace.running.peek() || this.#asking !== undefined) return
    const delay = delayMs(pace.rateMs.peek(), every, this.#errors, this.#state.peek().error?.retryAfterMs)
    this.#callOff = clock.after(delay, () => this.refresh())
  }
}

function errorOf(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(0, 'UNREADABLE', `${(error as Error).message ?? error}`)
}

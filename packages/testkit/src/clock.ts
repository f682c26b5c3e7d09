/** A clock that moves only when a test says so. */
import { type Clock, type Duration, durationOption, type Now } from '@millrace/core'

interface Timer {
  readonly atMono: number
  readonly order: number
  readonly wake: () => void
}

/** A clock that moves only when a test says so. */
export class VirtualClock implements Clock {
  #wall: number
  #mono = 0
  #order = 0
  #noted = 0
  readonly #timers = new Set<Timer>()

  /** @param wall the time at which the wall clock starts, in ms since 1970 */
  constructor(wall = Date.UTC(2030, 0, 1)) {
    this.#wall = wall
  }

  read(): Now {
    return { wall: this.#wall, mono: this.#mono }
  }

  /** Returns the time of the wall clock. */
  now(): Date {
    return new Date(this.#wall)
  }

  /**
   * Resolves once that much of this clock's time has passed, with Infinity never: for handlers that take their time.
   *
   * @throws OptionTypeError, OptionRangeError
   */
  sleep(duration: Duration): Promise<void> {
    const ms = durationOption('sleep', duration, { infinity: true })
    return new Promise((resolve) => this.setTimer(ms, resolve))
  }

  setTimer(ms: number, wake: () => void): () => void {
    // Both clocks count whole milliseconds, as rows hold them; the token of a rate may be ready in between.
    const timer = { atMono: this.#mono + Math.max(0, Math.ceil(ms)), order: this.#order++, wake }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /**
   * Moves both clocks forward, and fires every timer that is due on the way, in order, each followed by everything that it
   * triggered. Work that needs real time, such as reading a file, may still be in progress afterwards. At most a hundred years.
   *
   * @throws OptionTypeError, OptionRangeError
   */
  async advance(duration: Duration): Promise<void> {
    const endMono = this.#mono + durationOption('advance', duration)
    await this.#quiet()
    // A stall on the way may take longer than this.
    const next = () => this.#next(Math.max(endMono, this.#mono))
    for (let timer = next(); timer !== undefined; timer = next()) {
      this.#move(Math.max(0, timer.atMono - this.#mono))
      this.#timers.delete(timer)
      timer.wake()
      await this.#quiet()
    }
    this.#move(Math.max(0, endMono - this.#mono))
  }

  /** @internal Notes that something will continue in the next round of the event loop: time waits for it. */
  noteWork(): void {
    this.#noted++
  }

  async #quiet(): Promise<void> {
    for (let noted: number | undefined; noted !== this.#noted; ) {
      noted = this.#noted
      await quiet()
    }
  }

  /** Lets time pass unnoticed, as when a thread is blocked: timers fire late, with the next `advance`. */
  stall(ms: number): void {
    this.#move(Math.ceil(ms))
  }

  /** Moves the wall clock alone, as when somebody sets it, or after a suspend, which the monotonic one sleeps through. */
  jump(ms: number): void {
    this.#wall += Math.ceil(ms)
  }

  #next(endMono: number): Timer | undefined {
    let next: Timer | undefined
    for (const timer of this.#timers) {
      if (timer.atMono > endMono) continue
      if (next === undefined || timer.atMono < next.atMono || (timer.atMono === next.atMono && timer.order < next.order)) next = timer
    }
    return next
  }

  #move(ms: number): void {
    this.#mono += ms
    this.#wall += ms
  }
}

/** Node's own functions: a test may have replaced them with its runner's fake timers by the time they are used. */
const { setImmediate: soon, setTimeout: later, clearTimeout: never } = globalThis

/** Resolves once everything that was triggered in microtasks and ticks has run: two rounds of the event loop, no waiting. */
export async function quiet(): Promise<void> {
  for (let round = 0; round < 2; round++) await new Promise<void>((resolve) => soon(resolve))
}

/** Calls `wake` after that much real time. Returns a function that cancels it. */
export function inRealTime(ms: number, wake: () => void): () => void {
  const timer = later(wake, ms)
  return () => never(timer)
}

/** Returns a repeatable source of random numbers in [0, 1): mulberry32, public domain. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

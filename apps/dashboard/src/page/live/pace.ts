/** How often the page asks: a rate that the user sets, a pause, and nothing while the tab is hidden. */
import { computed, signal } from '@preact/signals'

/** Milliseconds between two questions; 0 is off. */
export const RATES_MS = [1_000, 2_000, 5_000, 15_000, 0] as const
export type RateMs = (typeof RATES_MS)[number]
const SLOWEST_MS = 60_000

export class Pace {
  readonly rateMs = signal<RateMs>(2_000)
  readonly paused = signal(false)
  /** The tab is not seen. */
  readonly hidden = signal(false)
  /** The session is over: each question would be refused. */
  readonly over = signal(false)
  readonly running = computed(() => this.rateMs.value > 0 && !this.paused.value && !this.hidden.value && !this.over.value)
}

/** The delay before the next question: `every` times the rate, twice as long after each error in a row, up to a minute. */
export function delayMs(rateMs: number, every: number, errors: number, retryAfterMs = 0): number {
  const slower = Math.min(rateMs * every * 2 ** Math.min(errors, 10), Math.max(SLOWEST_MS, rateMs * every))
  return Math.max(slower, retryAfterMs)
}

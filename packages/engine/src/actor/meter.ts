/** Measures the last turns of the writer, in two small rings, and the timings of jobs. */
import type { Now, WriterStats } from '@millrace/core'
import type { Effects, TurnMeter } from '@millrace/core/kernel'
import { Timings } from './timings/timings.ts'

const KEPT = 256

export class Meter implements TurnMeter {
  #turns = 0
  readonly timings = new Timings()
  reloads = 0
  failedTurns = 0
  readonly #sizes: number[] = []
  readonly #durationsMs: number[] = []

  committed(effects: Effects, commands: number, ms: number, { wall }: Now): void {
    const slot = this.#turns++ % KEPT
    this.#sizes[slot] = commands
    this.#durationsMs[slot] = ms
    this.timings.note(effects, wall)
  }

  stats(state: Pick<WriterStats, 'mailboxDepth' | 'walBytes' | 'journalBytes' | 'draining'>): WriterStats {
    return {
      turns: this.#turns,
      turnSizeP50: quantile(this.#sizes, 0.5),
      turnSizeP99: quantile(this.#sizes, 0.99),
      commitMsP50: quantile(this.#durationsMs, 0.5),
      commitMsP99: quantile(this.#durationsMs, 0.99),
      reloads: this.reloads,
      failedTurns: this.failedTurns,
      ...state,
    }
  }
}

function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0
}

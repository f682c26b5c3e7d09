/** When a failed attempt is tried again. */
import { LIMITS } from './limits.ts'

/** Durations in milliseconds. `factor` is for `exponential` alone. */
export interface Backoff {
  readonly type: 'exponential' | 'linear' | 'fixed'
  readonly delay: number
  readonly factor?: number
  readonly maxDelay?: number
  /** 0 to 1: ± that fraction; `'equal'`: half plus a random half; `'full'`: random from 0. */
  readonly jitter?: number | 'equal' | 'full'
}

/**
 * Milliseconds until the next attempt. `attempt` is the one that failed, from 1; `random` is in [0, 1).
 * exponential delay·factor^(attempt−1), linear delay·attempt, fixed delay; then the cap; then jitter, within the cap: a cap behind the
 * draw would give jobs that have reached it one and the same delay.
 */
export function backoffDelay(backoff: Backoff, attempt: number, random: number): number {
  const { maxDelay = LIMITS.durationMs, jitter = 0 } = backoff
  const most = typeof jitter === 'number' ? maxDelay / (1 + jitter) : maxDelay
  return Math.round(jittered(Math.min(baseDelay(backoff, attempt), most), jitter, random))
}

function baseDelay(backoff: Backoff, attempt: number): number {
  switch (backoff.type) {
    case 'exponential':
      // The power may overflow to Infinity, which would turn a delay of 0 into NaN.
      return backoff.delay === 0 ? 0 : backoff.delay * (backoff.factor ?? 2) ** (attempt - 1)
    case 'linear':
      return backoff.delay * attempt
    case 'fixed':
      return backoff.delay
  }
}

function jittered(delay: number, kind: number | 'equal' | 'full', random: number): number {
  if (kind === 'equal') return delay / 2 + (delay / 2) * random
  if (kind === 'full') return delay * random
  return delay * (1 + kind * (2 * random - 1))
}

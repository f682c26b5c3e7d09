/**
 * A token bucket, kept as one time: when it would be full again (the "theoretical arrival time" of the generic cell rate
 * algorithm, ITU-T I.371). Each start moves that time by the time of one token. It may run ahead of the clock by `burst` tokens.
 * A full bucket needs no memory at all.
 */
import type { Now } from '../../clock.ts'
import { LIMITS } from '../../limits.ts'
import type { RateLimit } from '../../queueSettings.ts'
import type { Job } from './job.ts'

/** Divisions by a limit are not exact: a token is available when all but a millionth of a millisecond of its time has passed. */
const EPSILON_MS = 1e-6

/** Returns the milliseconds until so many tokens, at most `burst`, are available; 0 if they are. */
export function tokenMs({ limit, period, burst }: RateLimit, fullMono: number, mono: number, tokens = 1): number {
  const wait = fullMono - mono - (burst - tokens) * (period / limit)
  // Half of that earlier, so that a caller that comes back then, on a clock that rounds, finds the token.
  return wait <= EPSILON_MS ? 0 : wait - EPSILON_MS / 2
}

/** Returns the number of tokens that are available. */
export function tokensOf(rate: RateLimit, fullMono: number, mono: number): number {
  if (fullMono <= mono) return rate.burst
  if (tokenMs(rate, fullMono, mono) > 0) return 0
  return Math.max(1, Math.floor(rate.burst - (fullMono - mono - EPSILON_MS) / (rate.period / rate.limit)))
}

/** Returns the tokens that are available, and the time of the wall clock at which there is one more; 0 if the bucket is full. */
export function rateNow(rate: RateLimit, fullMono: number, { wall, mono }: Now): { readonly tokens: number; readonly nextAt: number } {
  const tokens = tokensOf(rate, fullMono, mono)
  const wait = tokenMs(rate, fullMono, mono, Math.min(rate.burst, tokens + 1))
  return { tokens, nextAt: fullMono <= mono ? 0 : timeAfter(wall, wait) }
}

/** Returns the time of the wall clock after so many milliseconds; the last instant of a Date if it is later, as a great debt makes it. */
export function timeAfter(wall: number, ms: number): number {
  return Math.min(Math.ceil(wall + ms), LIMITS.timeMs)
}

/** Returns the tokens that must be there for a start. A job that takes more than the bucket holds starts from a full one, into debt. */
export function tokensFor({ policy }: Job, { burst }: RateLimit): number {
  return Math.min(policy.tokens, burst)
}

/** Returns when the bucket is full again after a start has taken so many tokens. */
export function takeTokens({ limit, period }: RateLimit, fullMono: number, mono: number, tokens: number): number {
  return Math.max(fullMono, mono) + tokens * (period / limit)
}

/** Converts a bucket to another rate: the same number of tokens is missing, at most as many as it holds, and any debt is kept. */
export function changeRate(from: RateLimit | undefined, to: RateLimit, fullMono: number, mono: number): number {
  if (from === undefined) return mono
  const missing = Math.max(0, fullMono - mono) / (from.period / from.limit)
  const debt = Math.max(0, missing - from.burst)
  return mono + (Math.min(missing - debt, to.burst) + debt) * (to.period / to.limit)
}

/**
 * Returns when a bucket is full again that missed so much at that time of the wall clock. A clock that went back has refilled
 * nothing, and a clock that shows whole milliseconds may have shown one too many.
 */
export function fullMonoOf(missingMs: number, missingAt: number, { wall, mono }: Now): number {
  return mono + Math.max(0, missingMs - Math.max(0, wall - missingAt - 1))
}

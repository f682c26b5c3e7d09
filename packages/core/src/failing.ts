/**
 * The one rule that decides whether runs of a job name fail so often that people have to look. It compares with fixed numbers and never
 * with what is usual: an outage that lasts becomes usual.
 */

/** Runs of a job name that ended within `FAILING.windowMs`, and what came last. */
export interface RecentRuns {
  readonly runs: number
  readonly failed: number
  /** Failed runs since the last one that completed, within the window or before it. */
  readonly streak: number
  /** Milliseconds since 1970; 0 for never. */
  readonly lastFailedAt: number
}

/** A name fails from so many failed runs in the window, if they are such a share of its runs; or from so many in a row, at any rate. */
export const FAILING = {
  windowMs: 900_000,
  leastRuns: 10,
  leastShare: 0.05,
  /** The silence after which a name with other runs is over it. */
  overMs: 600_000,
  streak: 3,
  /** The silence after which a name that has completed no run since is over it: it may run rarely, or be paused. */
  streakOverMs: 3_600_000,
} as const

export function isFailing({ runs, failed, streak, lastFailedAt }: RecentRuns, now: number): boolean {
  const silentMs = now - lastFailedAt
  if (streak >= FAILING.streak && silentMs < FAILING.streakOverMs) return true
  return failed >= FAILING.leastRuns && failed >= runs * FAILING.leastShare && silentMs < FAILING.overMs
}

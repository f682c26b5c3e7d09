/** When the wait of a queue's oldest job is a problem. */
import type { QueueAnswer, StatsAnswer } from '../../../api/answers.ts'
import type { Severity } from './problem.ts'

const LATE_MS = 60_000
const VERY_LATE_MS = 600_000
/** How much longer than usual is late. */
const TIMES = 10

/** Returns the longest median among the names of a queue; undefined if none of its jobs has run lately. */
export function usualWaitMs(queue: string, { names }: Pick<StatsAnswer, 'names'>): number | undefined {
  const medians = names.filter((name) => name.queue === queue && name.started > 0).map(({ waitMs }) => waitMs.p50)
  return medians.length === 0 ? undefined : Math.max(...medians)
}

/** Returns undefined if the wait is no problem. The queue's `alertAfter` decides alone. */
export function latenessOf(
  waitMs: number,
  usualMs: number | undefined,
  { alertAfter }: Pick<QueueAnswer['settings'], 'alertAfter'> = {},
): Severity | undefined {
  if (alertAfter !== undefined) return waitMs > alertAfter ? 'bad' : undefined
  const isUnusual = waitMs > LATE_MS && waitMs > TIMES * (usualMs ?? 0)
  const isVeryLate = waitMs > VERY_LATE_MS
  // A long wait that is usual is known, and asks for less.
  if (isUnusual && isVeryLate) return 'bad'
  return isUnusual || isVeryLate ? 'warn' : undefined
}

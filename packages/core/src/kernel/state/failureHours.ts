/**
 * The hours in which a kind of failures occurred. Stored is its count as it was before the first failure of each hour, as in the history of
 * queues. So a failure in an hour that is noted already changes the count alone.
 */
import { LIMITS } from '../../limits.ts'
import type { FailureHour } from '../records/rows.ts'
import { HOUR_MS, hourOf } from './history.ts'

/** Returns the hours with that of a failure, without those that no trend shows any more. */
export function withFailureHour(hours: readonly FailureHour[], now: number, before: number): readonly FailureHour[] {
  const at = hourOf(now)
  const last = hours.at(-1)
  // The wall clock went back, or the hour is noted.
  if (last !== undefined && last.at >= at) return hours
  return [...hours.filter((hour) => hour.at > at - LIMITS.failureTrendHours * HOUR_MS), { at, before }]
}

/** Returns the failed runs of each of the last hours: the last place is the hour of `now`. */
export function trendOf({ count, hours }: { readonly count: number; readonly hours: readonly FailureHour[] }, now: number): number[] {
  const trend = new Array<number>(LIMITS.failureTrendHours).fill(0)
  const last = trend.length - 1
  for (const [index, { at, before }] of hours.entries()) {
    // An hour that is still to come was noted before the wall clock went back.
    const place = Math.min(last, last - (hourOf(now) - at) / HOUR_MS)
    if (place >= 0) trend[place] = (trend[place] as number) + (hours[index + 1]?.before ?? count) - before
  }
  return trend
}

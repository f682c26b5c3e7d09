/** Scales of charts: from values to pixels, and the values that an axis names. */

/** Returns the position of a value between two pixels; values beyond the ends are held there. */
export function linear(min: number, max: number, from: number, to: number): (value: number) => number {
  const span = max - min || 1
  return (value) => from + (Math.min(Math.max(value, min), max) - min) * ((to - from) / span)
}

/** The same by orders of magnitude. `min` is above 0. */
export function logarithmic(min: number, max: number, from: number, to: number): (value: number) => number {
  const position = linear(Math.log(min), Math.log(max), from, to)
  return (value) => position(Math.log(Math.max(value, min)))
}

/** Returns 0 and up to `most` round values above, the last of which is the largest value or more. */
export function roundTicks(largest: number, most = 4): readonly number[] {
  const step = roundStep(Math.max(largest, 1) / most)
  const steps = Math.max(1, Math.ceil(largest / step))
  return Array.from({ length: steps + 1 }, (_, place) => place * step)
}

/** Counts are whole, so a step is at least 1: 1, 2, 3 or 5 with zeros. */
function roundStep(smallest: number): number {
  const power = 10 ** Math.max(0, Math.floor(Math.log10(smallest)))
  return ([1, 2, 3, 5, 10].find((factor) => factor * power >= smallest) as number) * power
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const ROUND_MS = [
  ...[1, 2, 5, 10, 15, 20, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 2, 7, 14].map((days) => days * DAY_MS),
]

/**
 * Returns at most `most` round times within a span: whole hours, or whole days, of the clock that people look at.
 *
 * @param aheadMs how far that clock is ahead of UTC
 */
export function roundTimes(from: number, to: number, most: number, aheadMs: number): readonly number[] {
  const step = ROUND_MS.find((ms) => (to - from) / ms <= most) ?? (ROUND_MS.at(-1) as number)
  const first = Math.ceil((from + aheadMs) / step) * step - aheadMs
  return first > to ? [] : Array.from({ length: Math.floor((to - first) / step) + 1 }, (_, place) => first + place * step)
}

/** Times on an axis of waiting and running, with their names. */
const TIME_TICKS: readonly (readonly [ms: number, name: string])[] = [
  [1, '1 ms'],
  [10, '10'],
  [100, '100'],
  [1_000, '1 s'],
  [10_000, '10'],
  [60_000, '1 m'],
  [600_000, '10 m'],
  [3_600_000, '1 h'],
  [36_000_000, '10 h'],
]

/** Returns the ticks up to the first that is as long as the longest time; 1 s at least. */
export function timeTicks(longestMs: number): readonly (readonly [ms: number, name: string])[] {
  const last = TIME_TICKS.findIndex(([ms]) => ms >= Math.max(longestMs, 1_000))
  return last === -1 ? TIME_TICKS : TIME_TICKS.slice(0, last + 1)
}

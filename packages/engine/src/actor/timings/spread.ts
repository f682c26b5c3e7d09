/**
 * How durations are spread: counts in fixed buckets that grow with the duration, eight to each doubling. To add one allocates nothing;
 * percentiles are of the last 1,024 to 2,048 and right to within 6 %, below 16 ms to the millisecond.
 */
import type { Percentiles } from '@millrace/core'

/** Whole milliseconds have a bucket each up to here. */
const EXACT = 16
/** A duration is at most 2^32 - 1 ms here: 49 days. */
const LONGEST = 0xffff_ffff
const BUCKETS = EXACT + 28 * 8
/** Of one generation: when it is full, the one before it is forgotten. */
const KEPT = 1_024

export class Spread {
  #recent = new Uint16Array(BUCKETS)
  #before = new Uint16Array(BUCKETS)
  #count = 0

  /** @param ms 0 or more; a wall clock that went back counts as 0 */
  add(ms: number): void {
    const bucket = bucketOf(ms)
    this.#recent[bucket] = (this.#recent[bucket] as number) + 1
    if (++this.#count === KEPT) this.#turnOver()
  }

  /** All 0 where there is none. */
  percentiles(): Percentiles {
    const counts = this.#recent.map((count, bucket) => count + (this.#before[bucket] as number))
    const total = counts.reduce((sum, count) => sum + count, 0)
    return { p50: ranked(counts, total * 0.5), p95: ranked(counts, total * 0.95), p99: ranked(counts, total * 0.99) }
  }

  clear(): void {
    this.#recent.fill(0)
    this.#before.fill(0)
    this.#count = 0
  }

  #turnOver(): void {
    const oldest = this.#before
    this.#before = this.#recent
    this.#recent = oldest.fill(0)
    this.#count = 0
  }
}

function ranked(counts: Uint16Array, rank: number): number {
  let seen = 0
  for (const [bucket, count] of counts.entries()) {
    seen += count
    if (count > 0 && seen >= rank) return middleOf(bucket)
  }
  return 0
}

function bucketOf(ms: number): number {
  const whole = Math.min(Math.max(0, Math.round(ms)), LONGEST)
  if (whole < EXACT) return whole
  const power = 31 - Math.clz32(whole)
  return EXACT + (power - 4) * 8 + ((whole >>> (power - 3)) & 7)
}

function middleOf(bucket: number): number {
  if (bucket < EXACT) return bucket
  const width = 2 ** ((bucket - EXACT) >> 3) * 2
  return (8 + ((bucket - EXACT) & 7)) * width + (width >> 1)
}

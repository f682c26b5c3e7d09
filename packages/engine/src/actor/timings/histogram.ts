/**
 * Records how durations are histogram: counts in fixed buckets that grow with the duration, eight to each doubling. Adding
 * one allocates nothing. Percentiles cover the last 1,024 to 2,048 durations and are right to within 6 %, up to 16 ms to
 * the millisecond. Durations that they no longer cover go into the histogram of all. Its bounds are among the buckets'
 * own, so it is exact, and a duration is counted once.
 */
import { type Percentiles, TIMING_BOUNDS_MS, type Timing } from '@millrace/core'

/** Up to here, each whole millisecond has a bucket. */
const EXACT = 16
/** The longest duration here: 2^32 - 1 ms, which is 49 days. */
const LONGEST = 0xffff_ffff
const BUCKETS = EXACT + 1 + 28 * 8
/** The counts that are being read: one array for all histograms of the thread, whose 1,000 names are read in a turn. */
const COUNTS = new Uint16Array(BUCKETS)
/** The size of one generation: when it is full, the one before it is moved to the histogram. */
const KEPT = 1_024

export class Histogram {
  #recent = new Uint16Array(BUCKETS)
  #before = new Uint16Array(BUCKETS)
  #count = 0
  /** The counts of durations in neither generation, by the bounds of the histogram, and of those beyond the last. */
  readonly #forgotten = new Float64Array(TIMING_BOUNDS_MS.length + 1)
  #sum = 0

  /** @param ms 0 or more; a wall clock that went back counts as 0 */
  add(ms: number): void {
    const whole = Math.min(Math.max(0, Math.round(ms)), LONGEST)
    this.#sum += whole
    const bucket = bucketOf(whole)
    this.#recent[bucket] = (this.#recent[bucket] as number) + 1
    if (++this.#count === KEPT) this.#turnOver()
  }

  /** Returns the percentiles; all are 0 if there are no durations. */
  percentiles(): Percentiles {
    return percentilesOf(COUNTS, this.#sumInto(COUNTS))
  }

  /** Returns the percentiles and the histogram. */
  timing(): Timing {
    const total = this.#sumInto(COUNTS)
    const all = this.#forgotten.slice()
    fold(COUNTS, all)
    return {
      ...percentilesOf(COUNTS, total),
      sum: this.#sum,
      buckets: [...all.subarray(0, all.findLastIndex((count) => count > 0) + 1)],
    }
  }

  clear(): void {
    this.#recent.fill(0)
    this.#before.fill(0)
    this.#count = 0
    this.#forgotten.fill(0)
    this.#sum = 0
  }

  /** Writes the counts of the durations that percentiles cover. Returns their number. */
  #sumInto(counts: Uint16Array): number {
    let total = 0
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      const count = (this.#recent[bucket] as number) + (this.#before[bucket] as number)
      counts[bucket] = count
      total += count
    }
    return total
  }

  #turnOver(): void {
    const oldest = this.#before
    fold(oldest, this.#forgotten)
    this.#before = this.#recent
    this.#recent = oldest.fill(0)
    this.#count = 0
  }
}

function percentilesOf(counts: Uint16Array, total: number): Percentiles {
  return { p50: ranked(counts, total * 0.5), p95: ranked(counts, total * 0.95), p99: ranked(counts, total * 0.99) }
}

function ranked(counts: Uint16Array, rank: number): number {
  let seen = 0
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    const count = counts[bucket] as number
    seen += count
    if (count > 0 && seen >= rank) return middleOf(bucket)
  }
  return 0
}

/** Adds the counts of the buckets to a histogram. */
function fold(counts: Uint16Array, into: Float64Array): void {
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    const bound = BOUNDS[bucket] as number
    into[bound] = (into[bound] as number) + (counts[bucket] as number)
  }
}

/** Returns a duration's bucket. A bucket ends with its bound, as those of histograms do: the last of eight with a power of two. */
function bucketOf(whole: number): number {
  if (whole <= EXACT) return whole
  const before = whole - 1
  const power = 31 - Math.clz32(before)
  return EXACT + 1 + (power - 4) * 8 + ((before >>> (power - 3)) & 7)
}

function middleOf(bucket: number): number {
  if (bucket <= EXACT) return bucket
  const place = bucket - EXACT - 1
  const width = 2 ** (place >> 3) * 2
  return (8 + (place & 7)) * width + (width >> 1)
}

/** The bound of the histogram that each bucket is under. */
const BOUNDS = Uint8Array.from({ length: BUCKETS }, (_, bucket) => {
  const doublings = bucket <= EXACT ? 32 - Math.clz32(Math.max(1, bucket) - 1) : 5 + ((bucket - EXACT - 1) >> 3)
  return Math.min(doublings, TIMING_BOUNDS_MS.length)
})

/**
 * The token buckets of keys that are not full, by the time at which one of them is to be checked. There are at most as many as
 * jobs have started within the time that a bucket takes to fill up, and a second. A full bucket takes no memory, and no row.
 */
import { IndexedHeap } from '../../heap.ts'
import type { RateLimit } from '../../queueSettings.ts'
import { takeTokens, tokenMs } from './bucket.ts'
import type { Key } from './keyBacklog.ts'

export class KeyBuckets {
  readonly #byTime = new IndexedHeap<Key>(
    (a, b) => a.lookMono < b.lookMono,
    (key, place) => {
      key.bucketPlace = place
    },
  )

  /** The time of the next check, maybe too early; monotonic. One time serves all keys. */
  nextMono = Number.POSITIVE_INFINITY

  due(mono: number): Key | undefined {
    const key = this.#byTime.peek()
    return key !== undefined && key.lookMono <= mono ? key : undefined
  }

  take(key: Key, rate: RateLimit, mono: number, tokens: number): void {
    this.fill(key, takeTokens(rate, key.fullMono, mono, tokens))
  }

  /** Sets the time from which on the bucket is full. */
  fill(key: Key, fullMono: number): void {
    key.fullMono = fullMono
    if (key.bucketPlace < 0 || sweepMono(fullMono) < key.lookMono) this.#look(key, sweepMono(fullMono))
  }

  /** Schedules a check for when the key has so many tokens, because its jobs wait for them. It never has more than `burst`. */
  await(key: Key, rate: RateLimit, mono: number, tokens: number): void {
    const ms = tokens > rate.burst ? 0 : tokenMs(rate, key.fullMono, mono, tokens)
    if (ms > 0 && mono + ms < key.lookMono) this.#look(key, mono + ms)
  }

  /** Postpones a key whose bucket was checked and is not full. */
  later(key: Key): void {
    this.#look(key, sweepMono(key.fullMono))
  }

  drop(key: Key): void {
    if (key.bucketPlace < 0) return
    this.#byTime.removeAt(key.bucketPlace)
    this.#noteNext()
  }

  #look(key: Key, mono: number): void {
    key.lookMono = mono
    if (key.bucketPlace < 0) this.#byTime.push(key)
    else this.#byTime.update(key.bucketPlace)
    this.#noteNext()
  }

  #noteNext(): void {
    this.nextMono = this.#byTime.peek()?.lookMono ?? Number.POSITIVE_INFINITY
  }
}

/** Rounds up to the second: full buckets are forgotten together, so that they do not take a turn each. */
function sweepMono(fullMono: number): number {
  return Math.ceil(fullMono / SWEEP_MS) * SWEEP_MS
}

const SWEEP_MS = 1_000

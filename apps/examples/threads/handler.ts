/** Runs on a thread of the pool. `setup` is called once in each thread, `teardown` before it goes. */
import { threadId } from 'node:worker_threads'
import type { HandlerOf } from '@millrace/engine'
import type { primes } from './primes.ts'

let small: number[] = []

export function setup(): void {
  small = [...upTo(2_000)].filter((number) => number > 1 && !divisible(number, [...upTo(45)].slice(2)))
}

export const handler: HandlerOf<typeof primes> = ({ data, progress, signal }) => {
  let count = 0
  for (let number = data.from; number < data.to; number++) {
    if (number % 100_000 === 0) {
      signal.throwIfAborted()
      progress((number - data.from) / (data.to - data.from))
    }
    if (!divisible(number, small)) count++
  }
  return { count, thread: threadId }
}

function divisible(number: number, by: readonly number[]): boolean {
  for (const prime of by) {
    if (prime * prime > number) return false
    if (number % prime === 0) return true
  }
  return false
}

function* upTo(end: number): Generator<number> {
  for (let number = 0; number < end; number++) yield number
}

/** The clock and the randomness of the command line. */
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'

/** Returns milliseconds since 1970. */
export function now(): number {
  return Date.now()
}

/** Returns a random number in [0, 1). */
export function chance(): number {
  return Math.random()
}

export function newKey(): string {
  return randomUUID()
}

/** Resolves after `ms` milliseconds, or when the signal aborts. Never rejects. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await wait(ms, undefined, signal && { signal }).catch(() => {})
}

/** Returns a signal that aborts after `ms` milliseconds. It keeps no process alive. */
export function within(ms: number): AbortSignal {
  return AbortSignal.timeout(ms)
}

/** Keeps the process alive until the returned function is called. */
export function keepAlive(): () => void {
  const timer = setInterval(() => {}, 2 ** 30)
  return () => clearInterval(timer)
}

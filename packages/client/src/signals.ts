/** Signals that ask a process to end. */
import type { EventEmitter } from 'node:events'
import { apart, quietClock } from '@millrace/worker'

/** The signals that ask a process to end. A terminal that is closed sends `SIGHUP`. */
export const END_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/**
 * The time in which signals count as one, in milliseconds. One Ctrl-C often arrives twice: from the terminal, and from the program that
 * has started this process, such as npm, `tsx watch` or `concurrently`.
 */
const SAME_STOP_MS = 500

/** A sender of signals: `process`, or an object that stands for one. */
export interface SignalSource {
  on(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals, number: number) => void): EventEmitter
  off(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals, number: number) => void): EventEmitter
}

/**
 * Calls `listener` with each signal, but not with those that follow within 500 ms, or while the thread is busy for longer. Returns a function
 * that ends that.
 *
 * Swap what `listener` calls instead of listening anew: without a listener, Node drops a signal that it has not delivered yet.
 */
export function onSignals(
  source: SignalSource,
  signals: readonly NodeJS.Signals[],
  listener: (signal: NodeJS.Signals, number: number) => void,
): () => void {
  let same = false
  const hear = (signal: NodeJS.Signals, number: number) => {
    if (same) return
    same = true
    const over = () => {
      same = false
    }
    // Signals that have arrived while the thread was busy are delivered after its timers.
    quietClock.setTimer(SAME_STOP_MS, () => quietClock.afterTurn?.(over))
    listener(signal, number)
  }
  for (const signal of signals) apart(() => source.on(signal, hear))
  return () => {
    for (const signal of signals) source.off(signal, hear)
  }
}

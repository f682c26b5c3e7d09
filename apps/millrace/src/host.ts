/** The process that a program runs in. */
import { END_SIGNALS, onSignals, type SignalSource } from '@millrace/client'

/**
 * The process of a command or of a daemon: `process`, or an object that stands for one in a program that runs it by a call. It can send
 * messages if another process has started it with a channel.
 */
export interface Host extends Pick<NodeJS.Process, 'env' | 'stdin' | 'stdout' | 'stderr' | 'send' | 'disconnect'>, SignalSource {
  /** Ends the process at once. */
  exit(code: number): never
}

export type EndSignal = (typeof END_SIGNALS)[number]

/** A function that is called with each signal that asks the process to end. */
export type SignalListener = (signal: EndSignal) => void

/** Calls `listener` with each signal that asks the process to end; several within 500 ms count as one. Returns what ends that. */
export function onSignal(host: SignalSource, listener: SignalListener): () => void {
  return onSignals(host, END_SIGNALS, listener as (signal: NodeJS.Signals) => void)
}

/** The process that a program runs in. */
import type { EventEmitter } from 'node:events'

/**
 * The process of a command or of a daemon: `process`, or an object that stands for one in a program that runs it by a call. It can send
 * messages if another process has started it with a channel.
 */
export interface Host extends Pick<NodeJS.Process, 'env' | 'stdin' | 'stdout' | 'stderr' | 'send' | 'disconnect'> {
  /** Hears signals. */
  on(signal: NodeJS.Signals, heard: (signal: NodeJS.Signals) => void): EventEmitter
  off(signal: NodeJS.Signals, heard: (signal: NodeJS.Signals) => void): EventEmitter
  /** Ends the process at once. */
  exit(code: number): never
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const
export type EndSignal = (typeof SIGNALS)[number]

/** Calls `heard` with each signal that asks the process to end. Returns what ends that. */
export function onSignal(host: Pick<Host, 'on' | 'off'>, heard: (signal: EndSignal) => void): () => void {
  const hear = heard as (signal: NodeJS.Signals) => void
  for (const signal of SIGNALS) host.on(signal, hear)
  return () => {
    for (const signal of SIGNALS) host.off(signal, hear)
  }
}

/** The run of a handler, as its durable calls see it. */
import type { Grant, LogLine } from '@millrace/core'
import type { Progress } from '../handlerContext.ts'
import type { JobInfo } from '../jobInfo.ts'
import type { Settlement } from '../settlement.ts'
import type { ReplayHooks } from './hooks.ts'

export interface Host {
  readonly grant: Grant
  readonly job: JobInfo
  readonly signal: AbortSignal
  readonly aborted: Error | undefined
  /** True if the run is given back at its next durable call. */
  readonly isLeaving: boolean
  /** The end of the run that counts, whatever its handler throws or returns. */
  ending: Error | undefined
  /** Called with the end of the run. */
  settled: (settlement: Settlement) => void
  /** Called with the error by which a durable call ends the run. */
  failed: (error: unknown) => void
  /** Aborts the signal of a handler that does not continue. */
  suspend(reason: Error): void
  /** Called when the run has recorded something. */
  noteResult(): void
  addLines(lines: readonly LogLine[]): void
  report(progress: Progress): void
}

/** The part of a worker that the durable calls of a run need. */
export interface Worker {
  readonly maxDataBytes: number
  readonly replay?: ReplayHooks | undefined
  now(): number
  setTimer(ms: number, call: () => void): () => void
  /** Calls back in a macrotask of its own; by default one of this process. */
  readonly afterTurn?: ((call: () => void) => void) | undefined
}

/** A run that a worker's session holds, from its grant until its outcome is answered. */
import type { CommandOf } from '@millrace/core'
import type { RunContext } from './context.ts'
import type { WorkerRunnable } from './runnables.ts'
import type { Settlement } from './settlement.ts'

export interface Run {
  readonly context: RunContext
  readonly runnable: WorkerRunnable
  /** The outcome that was sent and is not answered yet. */
  settlement: Settlement | undefined
  /** The last checkpoint that its handler has asked for. */
  checkpoint: CommandOf<'checkpoint'> | undefined
  cancelGrace: (() => void) | undefined
  zombie: boolean
  /** True if the clock here has given it up: the engine may still wait for its outcome. */
  lapsed: boolean
}

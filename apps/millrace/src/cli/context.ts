/** What commands are given: one object, made once a run. */
import type { Logger } from '@millrace/core'
import type { Engine } from '@millrace/engine'
import type { Output } from './output/output.ts'
import type { Target } from './target.ts'

export interface ConnectOptions {
  /** Makes the file where there is none yet: for commands that put something into it. */
  readonly create?: boolean
  /** Hears of the file that was made. */
  readonly created?: (file: string) => void
  /** Hears what the engine tells of by itself. */
  readonly logger?: Logger
}

export interface Context {
  readonly env: NodeJS.ProcessEnv
  readonly out: Output
  readonly stdin: NodeJS.ReadStream
  /** Aborted by SIGINT and SIGTERM, and when the reader of stdout has gone. Commands that go on until then look at it. */
  readonly signal: AbortSignal
  /** The run ends by itself alone: a command that calls this hears of each signal, and goes on where nobody reads its stdout any more. */
  takeOver(heard: (signal: NodeJS.Signals) => void): void
  target(): Target
  /** What the run ends with, where no error says it. */
  exitWith(code: number): void
  /** The engine, connected at the first call; stopped when the run ends. */
  connect(options?: ConnectOptions): Promise<Engine>
}

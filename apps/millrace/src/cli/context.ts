/** The context that commands receive: one object for each run. */
import type { Engine } from '@millrace/engine'
import type { Host, SignalListener } from '../host.ts'
import type { Output } from './output/output.ts'
import type { ConnectOptions, Target } from './target.ts'

export interface Context extends Pick<Host, 'env' | 'stdin'> {
  /** The process that the command runs in. */
  readonly host: Host
  readonly out: Output
  /** Aborted by SIGINT, SIGTERM and SIGHUP, and when the reader of stdout has gone. Commands that run until then watch it. */
  readonly signal: AbortSignal
  /** Lets a command handle each signal itself. Only the command then ends the run, and it continues even if nobody reads its stdout. */
  takeOver(listener: SignalListener): void
  target(): Target
  /** Sets the exit code of a run that ends without an error. */
  exitWith(code: number): void
  /** Returns the engine, which connects at the first call and stops when the run ends. */
  connect(options?: ConnectOptions): Promise<Engine>
}

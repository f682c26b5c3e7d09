import type { Clock, Codec, Logger, Port, Redact } from '@millrace/core'
import type { ReplayHooks } from '@millrace/worker'
import type { JobChecks } from './checks.ts'
import type { EnqueueSink } from './enqueueSink.ts'

/** The settings by which a package that opens an engine sets it up. */
export interface EngineSetup {
  /** The maximum number of bytes of data, output and checkpoint each; no more than the engine itself stores. */
  readonly maxDataBytes: number
  readonly clock: Clock
  /** A clock whose timers do not keep the process alive. Without it, nothing checks that jobs are served. */
  readonly quietClock?: Clock
  readonly host: string
  readonly pid: number
  /** True if its workers live in the engine's own process, and so need no lease. */
  readonly local: boolean
  readonly logger?: Logger | undefined
  readonly codec?: Codec | undefined
  readonly redact?: Redact | undefined
  /** The part that a test has in the runs of handlers with durable calls. */
  readonly replay?: ReplayHooks
  /** Opens another channel to the same engine, for another thread. */
  readonly openChannel?: () => unknown
  /** Opens another Port of this thread, which a server gives to a connection. */
  readonly openPort?: () => Port
  /** Reports worker sessions of a server's clients that are certainly dead. */
  readonly declareDead?: (sessions: readonly string[]) => void
  /** The checks that servers of the same engine share; default those of this engine alone. */
  readonly checks?: JobChecks
  /** Accepts new jobs in the engine's place. */
  readonly intake?: EnqueueSink
  /** Called by each `stop`: returns false if another part of the process still uses the engine, which then continues. */
  readonly leave?: () => boolean
  /** Called once, when the Port is closed. */
  readonly closed?: () => void
}

/** Limits `maxDataBytes` to the engine's own bound, if this end knows it: larger data is refused before it is sent. */
export function boundedBy(port: Pick<Port, 'maxDataBytes'>, setup: EngineSetup): EngineSetup {
  return {
    ...setup,
    // After a break there may be another server, with another bound.
    get maxDataBytes() {
      return Math.min(setup.maxDataBytes, port.maxDataBytes ?? Number.POSITIVE_INFINITY)
    },
  }
}

import type { Clock, Codec, Logger, Port, Redact } from '@millrace/core'
import type { JobChecks } from './checks.ts'
import type { Intake } from './intake.ts'

/** How the package that opens an engine sets it up. */
export interface EngineSetup {
  /** Of data, output and checkpoint each, and no more than the engine itself stores. */
  readonly maxDataBytes: number
  readonly clock: Clock
  /** Its timers keep no process alive. Without one, nobody looks whether jobs are served. */
  readonly quietClock?: Clock
  readonly host: string
  readonly pid: number
  /** Its workers live in the engine's own process, and so need no lease. */
  readonly local: boolean
  readonly logger?: Logger | undefined
  readonly codec?: Codec | undefined
  readonly redact?: Redact | undefined
  /** A further way to the same engine, for another thread. */
  readonly openChannel?: () => unknown
  /** The same for this thread: what a server hands to a connection. */
  readonly openPort?: () => Port
  /** Tells the engine which worker sessions of a server's clients are dead for certain. */
  readonly declareDead?: (sessions: readonly string[]) => void
  /** Shared with servers of the same engine; default those of this engine alone. */
  readonly checks?: JobChecks
  /** Takes new jobs in the engine's place. */
  readonly intake?: Intake
  /** Asked by each `stop`: false where another part of the process still uses the engine, and it goes on. */
  readonly leave?: () => boolean
  /** Called once, when the Port is closed. */
  readonly closed?: () => void
}

/** With no larger bound than the engine's own, as far as this end knows it: what that would refuse is refused before it is sent. */
export function boundedBy(port: Pick<Port, 'maxDataBytes'>, setup: EngineSetup): EngineSetup {
  return {
    ...setup,
    // Another server may be there after a break, and say another one.
    get maxDataBytes() {
      return Math.min(setup.maxDataBytes, port.maxDataBytes ?? Number.POSITIVE_INFINITY)
    },
  }
}

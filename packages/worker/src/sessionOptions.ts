/** The options of a worker's session, as its engine gives them. */
import type { Clock, Grant, Logger, Redact, WorkSettings } from '@millrace/core'
import type { Calls } from './calls.ts'
import type { Handler } from './define.ts'
import type { ReplayHooks } from './steps/hooks.ts'

export interface SessionOptions {
  readonly calls: Calls
  readonly handlers: readonly Handler[]
  readonly settings: WorkSettings
  readonly host: string
  readonly pid: number
  /** True if it lives in the engine's own process. */
  readonly local: boolean
  readonly maxDataBytes: number
  readonly clock: Clock
  readonly logger: Logger | undefined
  /** Decodes the payloads of a grant. @throws CodecError */
  readonly open?: ((grant: Grant) => Grant) | undefined
  readonly redact?: Redact | undefined
  readonly replay?: ReplayHooks | undefined
}

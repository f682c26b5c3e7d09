/** What one call of the script is to measure, from its flags. */
import type { AvailablePeer } from './peers/available.ts'

export interface Plan {
  /** Names in `features.ts`. */
  readonly features: readonly string[]
  /** Names in `handlers.ts`. */
  readonly handlers: readonly string[]
  /** True if handlers run in another process too, which peers do not. */
  readonly otherProcess: boolean
  readonly repetitions: number
  readonly jobs: number
  readonly idleJobs: number
  /** Of a run that is counted by strace, which slows it down. */
  readonly syncJobs: number
  readonly growthMax: number
  /** 0: not asked for. */
  readonly sustainedSeconds: number
  readonly peerJobs: number
  readonly peers: readonly AvailablePeer[]
  /** A folder with further packages. */
  readonly packages: string
}

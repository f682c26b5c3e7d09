/** The shape of a problem, and of the answers that problems are found in. */
import type { Action } from '../../../actions/act.ts'
import type { Bulk } from '../../../actions/bulk.ts'
import type { Failure, QueueAnswer, Schedule, StatsAnswer, Worker } from '../../../api/answers.ts'
import type { Zone } from '../../../format/times.ts'
import type { IconName } from '../../../parts/icons.ts'

export type Severity = 'bad' | 'warn'

export interface Problem {
  /** The same as long as the problem is. */
  readonly id: string
  readonly severity: Severity
  readonly icon: IconName
  readonly title: string
  readonly text: string
  /** A message of an error, as it is. */
  readonly message?: string
  readonly tag?: string
  /** The path that shows more. */
  readonly show?: string
  readonly remedy?: Remedy
  /** The queue that it is about. */
  readonly queue?: string
  /** The jobs of the queue wait: nobody serves some, or the workers do not keep up. */
  readonly waits?: 'unserved' | 'behind'
}

/** A change that may end the problem. It needs the scope `admin`. */
export interface Remedy {
  readonly label: string
  readonly does: { readonly action: Action } | { readonly bulk: Bulk }
}

export interface Inputs {
  readonly stats: StatsAnswer
  readonly failures: readonly Failure[]
  readonly workers: readonly Worker[]
  readonly queues: readonly QueueAnswer[]
  readonly schedules: readonly Schedule[]
  /** Since when commands have waited in the mailbox at every look; undefined if there was none at the last. */
  readonly crowdedSince: number | undefined
  readonly now: number
  readonly zone: Zone
}

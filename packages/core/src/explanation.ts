/** Why a job has not ended: the command `explain`, and its answer. */
import type { JobKey } from './id.ts'
import type { State } from './lifecycle.ts'

/** Asks why a job has not ended. Reply: `Explanation`, or null where there is no such job. */
export interface ExplainCommand {
  readonly op: 'explain'
  readonly id: JobKey
}

/** The things that keep a job from its start, those that no other can pass first. */
export const CAUSES = [
  /** Its time has not come. */
  'time',
  /** It has failed, or was put off, and is tried again later. */
  'retry',
  /** Its handler sleeps. */
  'sleep',
  /** Its handler waits for a message. */
  'message',
  /** Its handler does not fit the results that it has recorded. */
  'steps-changed',
  /** Other jobs, for which it waits, have not ended. */
  'parents',
  /** `queues.pauseAll`. */
  'all-paused',
  'queue-paused',
  /** The jobs of its name are paused in its queue. */
  'name-paused',
  'key-paused',
  /** No attached worker serves its name in its queue. */
  'no-worker',
  /** All of them are paused, stopping or away. */
  'workers-unavailable',
  /** The others have no room for its weight. */
  'workers-full',
  'queue-limit',
  'shared-limit',
  'rate-limit',
  /** An earlier job of its key has the turn: `keyOrder: 'strict'`. */
  'key-order',
  'key-limit',
  'key-rate-limit',
  /** Nothing holds it: jobs before it start first. */
  'line',
] as const

/** A cause that keeps a job from its start. The values are stable. */
export type CauseCode = (typeof CAUSES)[number]

export interface Cause {
  readonly code: CauseCode
  /** The key, the name of the shared limit, the name of the sleep, or that of the message. */
  readonly of?: string
  /** When it ends, in milliseconds since 1970, unless something else happens before; undefined if only a change ends it. */
  readonly until?: number
  /** The used part of the limit, or of the room of the workers; for `parents`, the jobs that have not ended. */
  readonly used?: number
  readonly limit?: number
}

/** The answer of `explain` about a job. */
export interface Explanation {
  readonly name: string
  readonly queue: string
  readonly state: State
  readonly attempt: number
  readonly maxAttempts: number
  /** When the engine ends its run, in milliseconds since 1970; undefined if it does not run, or nothing limits it. */
  readonly deadlineAt?: number
  /** Empty for a job that runs or has ended. */
  readonly causes: readonly Cause[]
}

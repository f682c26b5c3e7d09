/** Flows: jobs that wait for others. */

/** The reaction of a job to a parent that failed, was cancelled or was deleted before it completed. */
export const ON_PARENT_FAILURE = ['fail', 'continue', 'ignore', 'cancel', 'run'] as const

/** The states of a whole flow: it runs while one of its jobs has yet to end; otherwise a failed job counts before a cancelled one. */
export const FLOW_STATES = ['running', 'completed', 'failed', 'cancelled'] as const

/** The state of a whole flow. */
export type FlowState = (typeof FLOW_STATES)[number]

/** Jobs that a job has created and waited for. */
export interface Joined {
  /** As the handler names them, once in a job. */
  readonly name: string
  /** The place of the first of them among all that the job has waited for, from 1; the others follow. */
  readonly place: number
  readonly jobs: number
}

/** The effect of a failed parent on a job that waits for it. */
export type OnParentFailure = (typeof ON_PARENT_FAILURE)[number]

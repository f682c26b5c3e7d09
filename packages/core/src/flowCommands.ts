/** Commands about flows. */
import type { NewJob, RunKey } from './commands.ts'
import type { FlowState, OnParentFailure } from './flow.ts'
import type { JobKey } from './id.ts'

/** Creates jobs that wait for one another: all or none. Reply: `Enqueued`, of the first; the others follow it row by row. */
export interface FlowCommand {
  readonly op: 'flow'
  /** Each behind all that it waits for. */
  readonly nodes: readonly FlowNode[]
  readonly idempotencyKey?: string
  readonly idempotencyTtl?: number
}

export interface FlowNode {
  readonly ref: string
  /** The job; it has no keys that an earlier job might match. */
  readonly job: NewJob
  /** Places in `nodes` of those that it waits for, each once. */
  readonly parents: readonly number[]
  readonly onFailure: OnParentFailure
}

/** Reads the parents of a running job in order, a page at a time. Reply: `ParentsPage`. */
export interface ParentsCommand extends RunKey {
  readonly op: 'parents'
  /** `next` of the page before. */
  readonly after?: number
  /** The place of the last parent that is asked for. Default: the last of those that the flow gave the job, without those that it joined. */
  readonly until?: number
}

/** Ends a run: its job creates these jobs and runs again once all have ended, without using an attempt. Reply: true. */
export interface JoinCommand extends RunKey {
  readonly op: 'join'
  /** Names the jobs among all that this job joins. */
  readonly name: string
  /** At least one; without keys that an earlier job might match. */
  readonly jobs: readonly NewJob[]
}

/**
 * One page of a flow's jobs, in the order in which they were created: each behind all that it waits for. Reply: `FlowPage`, or null where
 * there is no such flow, or none of its jobs is left.
 */
export interface GetFlowCommand {
  readonly op: 'getFlow'
  /** The id of the flow, or of any of its jobs that exists. */
  readonly id: JobKey
  readonly limit: number
  /** `next` of the page before. */
  readonly from?: FlowCursor
}

/** Lists flows, newest first: one page. A flow is listed while it has a job that waits, or has waited, for others. Reply: `FlowsPage`. */
export interface ListFlowsCommand {
  readonly op: 'listFlows'
  readonly limit: number
  readonly state?: FlowState
  /** Only flows whose first row is before this one: `next` of the page before. */
  readonly before?: number
}

/** The place where a page of a flow begins. */
export interface FlowCursor {
  /** Row number of the job. */
  readonly seq: number
  /** The number of its parents that earlier pages have listed. */
  readonly place: number
}

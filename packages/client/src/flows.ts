/** `engine.flows` reports the progress of flows. `engine.flow` and `engine.batch` create them. */
import {
  type DependencyView,
  type FlowGetOptions,
  type FlowJobView,
  type FlowListOptions,
  type FlowState,
  type FlowSummaryView,
  formatCursor,
  formatFlowCursor,
  formatId,
  type JobKey,
  type OnParentFailure,
  parseId,
  type State,
  type StateCounts,
  validateFlowGetOptions,
  validateFlowListOptions,
} from '@millrace/core'
import { textOf } from './jobKey.ts'
import type { Mailbox } from './mailbox.ts'
import { dateOf } from './view.ts'

/** A job that a job of a flow waits for. */
export interface FlowDependency {
  readonly id: string
  /** Empty if neither that job nor anything stored about it is left. */
  readonly ref: string
  /** The final state, or `'deleted'` if it had none, as the waiting job knows it; undefined until the job ends. */
  readonly told: 'completed' | 'failed' | 'cancelled' | 'deleted' | undefined
}

/** A job as `flows.get` returns it; `engine.get` returns the rest. */
export interface FlowJob {
  readonly id: string
  readonly ref: string
  readonly name: string
  readonly queue: string
  readonly state: State
  readonly attempt: number
  readonly runAt: Date
  readonly startedAt: Date | undefined
  readonly finishedAt: Date | undefined
  readonly onParentFailure: OnParentFailure
  /** The number of jobs that it waits for. */
  readonly parents: number
  /**
   * The dependencies in the order in which they were named. A job that waits for more than 1,000 has only some of them
   * here: the next page begins with the same job and the rest.
   */
  readonly dependsOn: readonly FlowDependency[]
}

/** One page of the jobs of a flow. */
export interface FlowPage {
  /** The id of the flow. */
  readonly id: string
  /** The jobs that are still kept, each after all jobs that it waits for. */
  readonly jobs: readonly FlowJob[]
  /** Pass as `after` for the next page; undefined at the end. */
  readonly next: string | undefined
  /** All jobs of the flow that are still kept, by state. */
  readonly states: StateCounts
}

/** A flow as `flows.list` returns it. */
export interface FlowSummary {
  readonly id: string
  /** The name and the queue of its first job that is still kept. */
  readonly name: string
  readonly queue: string
  readonly state: FlowState
  /** The jobs that are still kept, by state. */
  readonly states: StateCounts
  readonly enqueuedAt: Date
  /** When its last job ended; undefined while it runs. */
  readonly finishedAt: Date | undefined
}

/** One page of flows, newest first. */
export interface FlowList {
  readonly flows: readonly FlowSummary[]
  /** Pass as `after` for the next page; undefined at the end. */
  readonly next: string | undefined
  /** True if the page ended at the bound of scanned jobs, before it was full. There may be more behind `next`. */
  readonly partial?: true
}

/** Reads flows: `engine.flows`. */
export class Flows {
  readonly #calls: Pick<Mailbox, 'call'>

  /** @internal Created by the engine. */
  constructor(calls: Pick<Mailbox, 'call'>) {
    this.#calls = calls
  }

  /**
   * Returns a page of a flow's jobs, without their payloads, with the dependencies of each. The id is that of the flow or
   * of any of its jobs. Returns undefined if none of its jobs is left, or if the job is in no flow. A page has at most
   * 1,000 dependencies, and may therefore be short.
   *
   * @throws OptionTypeError, OptionRangeError
   */
  async get(id: string, options?: FlowGetOptions): Promise<FlowPage | undefined> {
    const settings = validateFlowGetOptions(options)
    const key = parseId(textOf(id))
    const page = key && (await this.#calls.call<'getFlow'>({ op: 'getFlow', id: key, ...settings }))
    if (!page) return undefined
    const { first, jobs, next, states } = page
    return {
      id: formatId(first),
      jobs: jobs.map((job) => jobOf(job, first)),
      next: next === null ? undefined : formatFlowCursor(next),
      states,
    }
  }

  /**
   * Returns a page of flows, newest first, each with the number of its jobs in each state. A flow runs while one of its jobs
   * has yet to end; then it has failed if a job has, or was cancelled if a job was, or has completed. With `state`, a page may
   * be short or empty and still have a `next`. A flow is listed as long as one of its jobs that wait for others is kept.
   *
   * @throws OptionTypeError, OptionRangeError
   */
  async list(options?: FlowListOptions): Promise<FlowList> {
    const settings = validateFlowListOptions(options)
    const { flows, next } = await this.#calls.call<'listFlows'>({ op: 'listFlows', ...settings })
    return {
      flows: flows.map(summaryOf),
      next: next === null ? undefined : formatCursor(next),
      ...(next !== null && flows.length < settings.limit && { partial: true as const }),
    }
  }
}

function summaryOf({ seq, node, enqueuedAt, finishedAt, ...same }: FlowSummaryView): FlowSummary {
  return { id: formatId({ seq, node, enqueuedAt }), ...same, enqueuedAt: new Date(enqueuedAt), finishedAt: dateOf(finishedAt) }
}

function jobOf({ seq, dependsOn, runAt, startedAt, finishedAt, ...same }: FlowJobView, first: JobKey): FlowJob {
  return {
    id: formatId({ ...first, seq }),
    ...same,
    runAt: new Date(runAt),
    startedAt: dateOf(startedAt),
    finishedAt: dateOf(finishedAt),
    dependsOn: dependsOn.map((other) => dependencyOf(other, first)),
  }
}

function dependencyOf({ ref, told, ...key }: DependencyView, first: JobKey): FlowDependency {
  return { id: formatId({ ...first, ...key }), ref, told: told ?? undefined }
}

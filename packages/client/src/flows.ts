/** `engine.flows`: how far flows are. They are created by `engine.flow` and `engine.batch`. */
import {
  type DependencyView,
  type FlowGetOptions,
  type FlowJobView,
  formatFlowCursor,
  formatId,
  type JobKey,
  type OnParentFailure,
  parseId,
  type State,
  validateFlowGetOptions,
} from '@millrace/core'
import { textOf } from './jobKey.ts'
import type { Mailbox } from './mailbox.ts'
import { dateOf } from './view.ts'

/** What a job of a flow waits for. */
export interface FlowDependency {
  readonly id: string
  /** Empty where neither that job nor anything of it is left. */
  readonly ref: string
  /** Its final state as far as the job was told, `'deleted'` where it had none; undefined while it has yet to end. */
  readonly told: State | 'deleted' | undefined
}

/** A job as `flows.get` answers it: `get` tells the rest. */
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
  /** How many jobs it waits for. */
  readonly parents: number
  /** In the order in which they were named. Of a job that waits for more than 1,000, a part: the next page begins with the job again, and the rest. */
  readonly dependsOn: readonly FlowDependency[]
}

export interface FlowPage {
  /** The flow's. */
  readonly id: string
  /** Each behind all that it waits for; those that are still kept. */
  readonly jobs: readonly FlowJob[]
  /** Pass as `after` for the next page; undefined at the end. */
  readonly next: string | undefined
}

export class Flows {
  readonly #calls: Pick<Mailbox, 'call'>

  /** @internal Made by the engine. */
  constructor(calls: Pick<Mailbox, 'call'>) {
    this.#calls = calls
  }

  /**
   * A page of a flow's jobs, without their payloads, and what each waits for; by the flow's id, or by that of any of its jobs. Undefined
   * where none of its jobs is left, or the job is in no flow. A page tells of at most 1,000 that its jobs wait for, and may so be short.
   *
   * @throws OptionTypeError, OptionRangeError
   */
  async get(id: string, options?: FlowGetOptions): Promise<FlowPage | undefined> {
    const settings = validateFlowGetOptions(options)
    const key = parseId(textOf(id))
    const page = key && (await this.#calls.call<'getFlow'>({ op: 'getFlow', id: key, ...settings }))
    if (!page) return undefined
    const { first, jobs, next } = page
    return { id: formatId(first), jobs: jobs.map((job) => jobOf(job, first)), next: next === null ? undefined : formatFlowCursor(next) }
  }
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

function dependencyOf({ seq, ref, told }: DependencyView, first: JobKey): FlowDependency {
  return { id: formatId({ ...first, seq }), ref, told: told ?? undefined }
}

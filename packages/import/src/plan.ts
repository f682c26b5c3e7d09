/** Plans an import: reads the source a first time, and checks each entry as the engine will check it. */
import type { JobRequest } from '@millrace/client'
import { systemCalendar } from '@millrace/client/calendar'
import {
  checkScheduledJob,
  type EnqueueOptions,
  isErrorOf,
  nameOption,
  newJobFrom,
  orderNodes,
  validateScheduleOptions,
} from '@millrace/core'
import type { Ended, Found, Outcome, Setting, Source } from './source.ts'

/** The content of the other queue's store, and what becomes of it. */
export interface ImportPlan {
  /** The entries by queue, by their state there, and by what becomes of them: a state of Millrace, or the reason why they are left. */
  readonly rows: readonly { readonly queue: string; readonly state: string; readonly count: number; readonly becomes: string }[]
  /** The features of the other queue that the entries use, how many of them do so, and what becomes of the feature. */
  readonly features: readonly { readonly feature: string; readonly count: number; readonly becomes: string }[]
  /** Settings of queues that are not imported, and the commands of `millrace` that set them here. */
  readonly settings: readonly Setting[]
  /** The number of jobs, those of flows included. */
  readonly jobs: number
  readonly flows: number
  readonly schedules: number
  /** The number of entries that cannot be imported. */
  readonly unfit: number
  /** The first 20 of them, by the id of the entry. */
  readonly errors: readonly { readonly id: string; readonly message: string }[]
}

/** The values that override those of the source. */
export interface Overrides {
  readonly name: string | undefined
  /** New names by the old ones. */
  readonly renamed: ReadonlyMap<string, string>
  readonly options: EnqueueOptions
}

/** The number of errors that are reported one by one. The others are counted. */
export const ERRORS_MAX = 20

export async function planOf(source: Source, overrides: Overrides, onPage: (read: number) => void): Promise<ImportPlan> {
  const planner = new Planner()
  const settings = await source.settings()
  let read = 0
  for await (const page of source.found()) {
    for (const found of page) planner.add(found, checked(overridden(found.outcome, overrides)))
    read += page.length
    onPage(read)
  }
  return planner.plan(await source.ended(), settings, source.features)
}

/** Counts entries. */
class Planner {
  readonly #rows = new Map<string, { queue: string; state: string; count: number; becomes: string }>()
  /** The number of entries that use each feature. */
  readonly #uses = new Map<string, number>()
  readonly #errors: { readonly id: string; readonly message: string }[] = []
  readonly #amounts = { jobs: 0, flows: 0, schedules: 0, unfit: 0 }

  add({ queue, state, id, uses }: Found, outcome: Outcome): void {
    const amounts = this.#amounts
    this.#row(queue, state, 1, becomesOf(outcome))
    if (outcome.as === 'job') amounts.jobs++
    else if (outcome.as === 'schedule') amounts.schedules++
    else if (outcome.as === 'flow') {
      amounts.flows++
      amounts.jobs += outcome.nodes.length
    } else if (outcome.as === 'unfit') {
      amounts.unfit++
      if (this.#errors.length < ERRORS_MAX) this.#errors.push({ id, message: outcome.error.message })
    }
    if (outcome.as === 'unfit' || outcome.as === 'left') return
    for (const feature of uses) this.#uses.set(feature, (this.#uses.get(feature) ?? 0) + 1)
  }

  plan(ended: readonly Ended[], settings: readonly Setting[], features: Source['features']): ImportPlan {
    for (const { queue, state, count } of ended) this.#row(queue, state, count, 'left: it has ended')
    const rows = [...this.#rows.values()].toSorted((one, other) => (one.queue < other.queue ? -1 : one.queue > other.queue ? 1 : 0))
    const used = Object.entries(features).flatMap(([feature, becomes]) => {
      const count = this.#uses.get(feature)
      return count === undefined ? [] : [{ feature, count, becomes }]
    })
    return { rows, features: used, settings, ...this.#amounts, errors: this.#errors }
  }

  #row(queue: string, state: string, count: number, becomes: string): void {
    const key = `${queue}\n${state}\n${becomes}`
    const row = this.#rows.get(key)
    if (row === undefined) this.#rows.set(key, { queue, state, count, becomes })
    else row.count += count
  }
}

function becomesOf(outcome: Outcome): string {
  switch (outcome.as) {
    case 'job':
      return outcome.job.options?.runAt === undefined ? 'waiting' : 'scheduled'
    case 'flow':
      return 'a flow'
    case 'node':
      return 'with its flow'
    case 'schedule':
      return 'a schedule'
    case 'left':
      return `left: ${outcome.why}`
    case 'unfit':
      return 'not imported: see below'
  }
}

/** Returns the outcome with the values of the caller. */
export function overridden(outcome: Outcome, overrides: Overrides): Outcome {
  switch (outcome.as) {
    case 'job':
      return { ...outcome, job: withOverrides(outcome.job, overrides) }
    case 'flow':
      return { ...outcome, nodes: outcome.nodes.map((node) => ({ ...node, ...withOverrides(node, overrides) })) }
    case 'schedule':
      return { ...outcome, job: withOverrides(outcome.job, overrides) as typeof outcome.job }
    default:
      return outcome
  }
}

function withOverrides(request: JobRequest, { name, renamed, options }: Overrides): JobRequest {
  const job = name ?? renamed.get(request.job as string) ?? request.job
  return { ...request, job, options: { ...request.options, ...options } }
}

/** Returns the outcome, or the error that the engine would reject it with. */
export function checked(outcome: Outcome): Outcome {
  try {
    if (outcome.as === 'job') checkJob(outcome.job)
    else if (outcome.as === 'flow') for (const { index } of orderNodes(outcome.nodes)) checkJob(outcome.nodes[index] as JobRequest)
    else if (outcome.as === 'schedule') {
      nameOption('id', outcome.id)
      validateScheduleOptions(outcome.options, systemCalendar)
      checkScheduledJob(checkJob(outcome.job as JobRequest))
    }
    return outcome
  } catch (error) {
    if (!(isErrorOf(error, 'TypeError') || isErrorOf(error, 'RangeError'))) throw error
    return { as: 'unfit', error }
  }
}

/** Checks the name and the options, whatever the data. */
function checkJob({ job, options }: JobRequest) {
  return newJobFrom(nameOption('job', job), null, options, undefined)
}

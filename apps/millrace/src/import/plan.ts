/** Plans an import: reads the source a first time, and checks each entry as the engine will check it. */
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
import type { JobRequest } from '@millrace/engine'
import type { Found, Outcome, Setting, Source } from './source.ts'

export interface PlanRow {
  readonly queue: string
  readonly state: string
  count: number
  /** The state that they get here, or the reason why they are left. */
  readonly becomes: string
}

export interface Plan {
  readonly rows: PlanRow[]
  /** The number of entries that use each feature. */
  readonly uses: Map<string, number>
  readonly settings: readonly Setting[]
  /** The version of the source when it was read. */
  readonly version: string
  jobs: number
  flows: number
  schedules: number
  unfit: number
  /** The first of them, by the id of the entry. */
  readonly errors: { readonly id: string; readonly message: string }[]
}

/** The values of the command line, which override those of the source. */
export interface Overrides {
  readonly name?: string | undefined
  /** New names by the old ones. */
  readonly renamed: ReadonlyMap<string, string>
  readonly options: EnqueueOptions
}

/** The number of errors that are reported one by one. The others are counted. */
export const ERRORS_MAX = 20

export async function planOf(source: Source, overrides: Overrides, onPage: (read: number) => void): Promise<Plan> {
  const plan: Plan = {
    ...{ rows: [], uses: new Map(), settings: await source.settings(), version: await source.version() },
    ...{ jobs: 0, flows: 0, schedules: 0, unfit: 0, errors: [] },
  }
  const rows = new Map<string, PlanRow>()
  let read = 0
  for await (const page of source.found()) {
    for (const found of page) {
      const outcome = checked(overridden(found.outcome, overrides))
      count(plan, rows, found, outcome)
    }
    read += page.length
    onPage(read)
  }
  for (const { queue, state, count } of await source.ended())
    rows.set(`${queue}\n${state}`, { queue, state, count, becomes: 'left: it has ended' })
  plan.rows.push(...[...rows.values()].toSorted((one, other) => (one.queue < other.queue ? -1 : one.queue > other.queue ? 1 : 0)))
  return plan
}

function count(plan: Plan, rows: Map<string, PlanRow>, { queue, state, id, uses }: Found, outcome: Outcome): void {
  const becomes = becomesOf(outcome)
  const key = `${queue}\n${state}\n${becomes}`
  const row = rows.get(key)
  if (row === undefined) rows.set(key, { queue, state, count: 1, becomes })
  else row.count++
  if (outcome.as === 'job') plan.jobs++
  else if (outcome.as === 'schedule') plan.schedules++
  else if (outcome.as === 'flow') {
    plan.flows++
    plan.jobs += outcome.nodes.length
  } else if (outcome.as === 'unfit') {
    plan.unfit++
    if (plan.errors.length < ERRORS_MAX) plan.errors.push({ id, message: outcome.error.message })
  }
  if (outcome.as === 'unfit' || outcome.as === 'left') return
  for (const feature of uses) plan.uses.set(feature, (plan.uses.get(feature) ?? 0) + 1)
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

/** Returns the outcome with what the command line says. */
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

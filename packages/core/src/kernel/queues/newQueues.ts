/**
 * Bounds the number of queues and of job names: each takes memory, and reports on all of them take time. One beyond the bound is refused
 * by name.
 */
import type { NewJob, SessionIntro } from '../../commands.ts'
import type { Refused } from '../../decision.ts'
import { LIMITS } from '../../limits.ts'
import { tooManyNames, tooManyQueues } from '../state/refuse.ts'
import type { TurnContext } from '../state/turnContext.ts'
import { queueOf } from './queueOf.ts'

/** True if `fresh` new queues, or as many new job names, may be more than there is room for. */
export function mayExceed({ tables, settings }: TurnContext, fresh: number): boolean {
  const { maxQueues = LIMITS.queues, maxNames = LIMITS.names } = settings
  return tables.queues.size + fresh > maxQueues || tables.lanesById.size + fresh > maxNames
}

/** Returns the refusal of jobs that would create a queue or a job name too many. */
export function findTooMany(turn: TurnContext, jobs: readonly NewJob[]): Refused | undefined {
  if (!mayExceed(turn, jobs.length)) return undefined
  const { tables, settings } = turn
  const [queues, lanes] = [new Set<string>(), new Set<string>()]
  for (const job of jobs) {
    const name = queueOf(tables, job)
    if (tables.lane(name, job.name) !== undefined) continue
    if (!tables.queues.has(name)) queues.add(name)
    if (tables.queues.size + queues.size > queuesMax(settings)) return tooManyQueues(name, queuesMax(settings))
    lanes.add(`${name} ${job.name}`)
    if (tables.lanesById.size + lanes.size > namesMax(settings)) return tooManyNames(job.name, name, namesMax(settings))
  }
  return undefined
}

/** Returns the refusal of a queue that does not exist yet and would be one too many. */
export function refuseQueue(turn: TurnContext, name: string): Refused | undefined {
  const max = queuesMax(turn.settings)
  return turn.tables.queues.has(name) || turn.tables.queues.size < max ? undefined : tooManyQueues(name, max)
}

/** Does the same for a job name in a queue. */
export function refuseName(turn: TurnContext, queue: string, name: string): Refused | undefined {
  const { tables, settings } = turn
  if (tables.lane(queue, name) !== undefined) return undefined
  return (
    refuseQueue(turn, queue) ?? (tables.lanesById.size < namesMax(settings) ? undefined : tooManyNames(name, queue, namesMax(settings)))
  )
}

/** Does the same for the names that a session defines. */
export function refuseDefinitions({ tables, settings }: TurnContext, { handlers, defines }: SessionIntro): Refused | undefined {
  const { definitions } = tables
  let room = namesMax(settings) - definitions.inForce.size
  if (defines === false || handlers.length <= room) return undefined
  for (const { name } of handlers)
    if (definitions.inForce.get(name) === undefined && --room < 0) return tooManyNames(name, '', namesMax(settings))
  return undefined
}

function queuesMax({ maxQueues = LIMITS.queues }: TurnContext['settings']): number {
  return maxQueues
}

function namesMax({ maxNames = LIMITS.names }: TurnContext['settings']): number {
  return maxNames
}

/** Bounds the number of queues: each takes memory, and reports on all of them take time. A queue beyond the bound is refused by name. */
import type { NewJob } from '../../commands.ts'
import type { Refused } from '../../decision.ts'
import { LIMITS } from '../../limits.ts'
import { tooManyQueues } from '../refuse.ts'
import type { TurnContext } from '../turn.ts'
import { queueOf } from './queueOf.ts'

/** True if `fresh` new queues may be more than there is room for. */
export function mayExceedQueues({ tables, settings }: TurnContext, fresh: number): boolean {
  return tables.queues.size + fresh > boundOf(settings)
}

/** Returns the refusal of jobs that would create one queue too many. */
export function findNewQueue(turn: TurnContext, jobs: readonly NewJob[]): Refused | undefined {
  if (!mayExceedQueues(turn, jobs.length)) return undefined
  const { tables, settings } = turn
  const fresh = new Set<string>()
  for (const job of jobs) {
    const name = queueOf(tables, job)
    if (tables.queues.has(name)) continue
    fresh.add(name)
    if (mayExceedQueues(turn, fresh.size)) return tooManyQueues(name, boundOf(settings))
  }
  return undefined
}

/** Returns the refusal of a queue that does not exist yet and would be one too many. */
export function refuseQueue(turn: TurnContext, name: string): Refused | undefined {
  if (turn.tables.queues.has(name) || !mayExceedQueues(turn, 1)) return undefined
  return tooManyQueues(name, boundOf(turn.settings))
}

function boundOf({ maxQueues = LIMITS.queues }: TurnContext['settings']): number {
  return maxQueues
}

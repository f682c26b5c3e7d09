/** Finds the queue of a job (the one that it names, the one that its definition names, or the default) and its lane there. */
import type { NewJob } from '../../commands.ts'
import type { Lane } from '../records/lane.ts'
import type { Tables } from '../state/tables.ts'
import type { TurnContext } from '../state/turnContext.ts'

export const DEFAULT_QUEUE = 'default'

export function queueOf({ definitions }: Tables, { queue, name }: NewJob): string {
  return queue ?? definitions.inForce.get(name)?.defaults.queue ?? DEFAULT_QUEUE
}

/** Returns a lane, which is created on its first use. */
export function laneOf(turn: Pick<TurnContext, 'tables' | 'effects'>, queueName: string, name: string): Lane {
  const known = turn.tables.lane(queueName, name)
  if (known !== undefined) return known
  const lane = turn.tables.addLane(queueName, name)
  turn.effects.newLanes.push(lane)
  return lane
}

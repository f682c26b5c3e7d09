/**
 * Forgets job names that nothing uses any more, and the defaults of sessions that are gone. A lane goes after a day without a job or a pause
 * and half a day without a worker, once no event that the journal still keeps names it. Its totals stay: they count for its queue, in a lane
 * whose name no job can have.
 */
import { LIMITS } from '../../limits.ts'
import type { Definition } from '../records/definition.ts'
import { addSums, type Lane } from '../records/lane.ts'
import type { TurnContext } from '../state/turnContext.ts'
import { laneOf } from './queueOf.ts'
import { removeLane } from './removeQueue.ts'

/** The lane that has the totals of the forgotten lanes of its queue. */
export const FORGOTTEN = '#'

type Forgetting = Pick<TurnContext, 'tables' | 'effects' | 'now'>

/**
 * Runs once everything else of the turn is decided. Returns true if there is more to do than one slice.
 *
 * @param firstEvent the first event that the journal keeps; 0 for none
 */
export function forgetNames(turn: Forgetting, firstEvent: number): boolean {
  const { tables, effects } = turn
  // The next number of a lane follows the largest one in the store, and no number is used again.
  const newest = [...tables.lanesById.keys()].reduce((one, other) => Math.max(one, other), 0)
  let left: number = LIMITS.sliceRows
  for (const lane of tables.lanesById.values()) {
    const stale = lane.id === newest ? undefined : staleOf(turn, lane, firstEvent)
    if (stale === undefined) continue
    if (left-- === 0) return true
    if (stale === 'use') effects.noteCounters(lane)
    else forgetLane(turn, lane)
  }
  for (const name of findLeft(turn)) {
    if (left-- <= 0) return true
    tables.definitions.delete(name)
    effects.definitionsGone.push(name)
  }
  return false
}

/**
 * Returns what is wrong with an idle lane: the stored use is out of date, or nothing uses the lane any more. The events that name it are
 * known by their numbers, so no clock decides about them. A clock that has gone forward only makes the day shorter, and a use that seems to
 * lie in the future, after it has gone back, is stored again, or the lane would stay until then.
 *
 * A worker uses a lane without a write. Its use is stored twice a day, so that a restart of worker or engine leaves it half a day to return.
 */
function staleOf({ tables, now }: Forgetting, lane: Lane, firstEvent: number): 'use' | 'lane' | undefined {
  const { counts, groups, paused, counted, name, usedAt, usedEvent } = lane
  if (counted || paused || name === FORGOTTEN || tables.definitions.isUnserved(name) || counts.some((count) => count > 0)) return undefined
  const age = now.wall - usedAt
  if (age < 0) return 'use'
  if (groups.length > 0) return age >= LIMITS.nameUnusedMs / 2 ? 'use' : undefined
  const isKept = firstEvent > 0 && firstEvent < usedEvent
  return age >= LIMITS.nameUnusedMs && !isKept ? 'lane' : undefined
}

function forgetLane(turn: Forgetting, lane: Lane): void {
  const { tables, effects } = turn
  const { queue, name } = lane
  // Also if it has no totals: a queue without settings is there because of its lanes.
  const forgotten = laneOf(turn, queue.name, FORGOTTEN)
  addSums(forgotten, lane)
  effects.noteCounters(forgotten)
  queue.lanes.delete(name)
  removeLane(tables, lane)
  effects.lanesGone.push(lane)
}

/** Finds the names whose defaults come from a session that is gone, and which have no lane and no worker. */
function findLeft({ tables, now }: Forgetting): string[] {
  const { definitions, lanesByName, groups, present } = tables
  const isOld = ({ session, saidAt }: Definition) => !present.has(session) && now.wall - saidAt >= LIMITS.nameUnusedMs
  const old = [...definitions.inForce].filter(
    ([name, definition]) => isOld(definition) && !lanesByName.has(name) && !definitions.isUnserved(name),
  )
  const served = new Set(old.length === 0 ? [] : [...groups.values()].flatMap(({ names }) => [...names]))
  return old.map(([name]) => name).filter((name) => !served.has(name))
}

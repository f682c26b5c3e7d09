/**
 * Forgets job names that nothing uses any more, and the defaults of sessions that are gone. A lane goes once it has had no job, no worker
 * and no pause for a day, and no event that the journal still keeps names it. Its totals stay: they count for its queue, in a lane whose
 * name no job can have.
 */
import { LIMITS } from '../../limits.ts'
import { laneOf } from '../jobs/enqueue.ts'
import type { Definition } from '../sessions/definition.ts'
import type { Tables } from '../tables.ts'
import type { TurnContext } from '../turn.ts'
import { addSums, type Lane } from './lane.ts'
import { removeLane } from './removeQueue.ts'

/** The lane that has the totals of the forgotten lanes of its queue. */
export const FORGOTTEN = '#'

type Forgetting = Pick<TurnContext, 'tables' | 'effects' | 'now'>

/**
 * Runs once everything else of the turn is decided. Returns true if there is more to forget than one slice.
 *
 * @param firstEvent the first event that the journal keeps; 0 for none
 */
export function forgetNames(turn: Forgetting, firstEvent: number): boolean {
  let left: number = LIMITS.sliceRows
  for (const lane of findUnused(turn, firstEvent)) {
    if (left-- === 0) return true
    forgetLane(turn, lane)
  }
  for (const name of findLeft(turn)) {
    if (left-- <= 0) return true
    turn.tables.definitions.delete(name)
    turn.effects.definitionsGone.push(name)
  }
  return false
}

/** Finds the lanes that have been unused for long enough, and notes those that begin to be. */
function findUnused({ tables, now }: Forgetting, firstEvent: number): Lane[] {
  const found: Lane[] = []
  let newest = 0
  for (const lane of tables.lanesById.values()) {
    newest = Math.max(newest, lane.id)
    if (!isUnused(tables, lane)) {
      lane.unused = undefined
      continue
    }
    lane.unused ??= { mono: now.mono, event: tables.nextEvent }
    const { mono, event } = lane.unused
    if (now.mono - mono >= LIMITS.nameUnusedMs && (firstEvent === 0 || firstEvent >= event)) found.push(lane)
  }
  // The next number of a lane follows the largest one in the store, and no number is used again.
  return found.filter(({ id }) => id !== newest)
}

function isUnused({ definitions }: Tables, { counts, groups, paused, counted, noted, name }: Lane): boolean {
  if (counted || noted || paused || groups.length > 0 || name === FORGOTTEN || definitions.isUnserved(name)) return false
  return counts.every((count) => count === 0)
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
  const old = [...definitions].filter(([name, definition]) => isOld(definition) && !lanesByName.has(name) && !definitions.isUnserved(name))
  const served = new Set(old.length === 0 ? [] : [...groups.values()].flatMap(({ names }) => [...names]))
  return old.map(([name]) => name).filter((name) => !served.has(name))
}

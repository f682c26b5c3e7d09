/** Once nobody is there and nothing is left to do, an engine holds in memory what a new one does that has loaded the same file. */

import type { Actor } from '../../../packages/engine/src/actor/actor.ts'
import { differenceOf, holdingsOf } from '../../../packages/testkit/src/testing/holdings.ts'
import type { History } from './history.ts'

/** What an engine may hold that a new one does not, by its path; and why that is no leak. */
const MAY_DIFFER: Readonly<Record<string, string>> = {
  '.meter.sizes': 'of the last 256 turns',
  '.meter.durationsMs': 'of the last 256 turns',
  '.meter.timings.entries': 'of the names that ran last: at most `LIMITS.namesTimed`',
  '.waiters.events.pages': 'as `.waiters.events.pages[]`',
  '.waiters.events.pages[]': 'pages of the journal that the next reader may ask for: at most eight',
  '.waiters.exports.seen': 'how far each export of the file has been read',
  '.answers.stats': 'the last answer to `stats`, until the next turn',
  '.memory.tables.served': 'the group that the last job was handed out to, until the next hand-out',
}
/** A new engine looks at all that it has loaded before it is idle. */
const TURNS_MAX = 10_000

/** @param fresh an engine that has loaded the same file, and has taken no turn yet. */
export function auditMemory(history: History, actor: Actor, fresh: Actor): void {
  history.meet('memoryAudited')
  let turns = 0
  while (turns < TURNS_MAX && fresh.turn() === 0) turns++
  history.hold(turns < TURNS_MAX, 49, () => `a new engine on the same file takes ${TURNS_MAX} turns, and is not idle`)
  const difference = differenceOf(holdingsOf(actor, MAY_DIFFER), holdingsOf(fresh, MAY_DIFFER))
  history.hold(difference.length === 0, 49, () => `nothing is left to do, and the engine and a new one hold ${difference.join('; ')}`)
}

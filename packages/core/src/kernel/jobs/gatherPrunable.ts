/** Reads the finished jobs that a turn may remove, by the retention of their queues. */
import type { Now } from '../../clock.ts'
import { CANCELLED, COMPLETED, FAILED, type StateCode } from '../../lifecycle.ts'
import { LIMITS } from '../../limits.ts'
import { retentionOf } from '../../queueSettings.ts'
import type { Keep, Retention } from '../../retention.ts'
import { retainedOf } from '../records/lane.ts'
import type { KeptQuery } from '../records/rows.ts'
import type { Facts } from '../state/facts.ts'
import type { Plan } from '../state/plan.ts'
import type { Tables } from '../state/tables.ts'

/** Asks for about as many jobs as `slice`. */
export function gatherPrunable(plan: Plan, tables: Tables, facts: Facts, now: Now, retention: Retention, slice: number): void {
  const ask = (exported: number | undefined) =>
    plan.ask('prunable', [keptTooLong(tables, now, retention, exported), slice], (prunable) => {
      facts.prunable = prunable
    })
  const { exports, nextEvent } = tables
  if (exports.size === 0) ask(undefined)
  // A job goes once every export is done with its end, or can no longer get it.
  else plan.ask('journal', [0], ({ firstEvent }) => ask(Math.max(Math.min(...exports.values()), (firstEvent || nextEvent) - 1)))
}

function keptTooLong(tables: Tables, now: Now, retention: Retention, exported: number | undefined): KeptQuery[] {
  const queries: KeptQuery[] = []
  for (const queue of tables.queues.values()) {
    for (const [state, keep] of finalStates(retentionOf(retention, queue.settings))) {
      const of = { queueId: queue.id, state }
      const own = queue.kept[state] as number
      if (own > 0) queries.push({ ...of, ...ownOver(now, own, exported) })
      const count = retainedOf(queue, state)
      if (count === 0) continue
      const surplus = count - keep.count
      const tooMany = exported === undefined ? 0 : count - Math.max(keep.count, LIMITS.jobsHeldForExports)
      if (tooMany > 0) queries.push({ ...of, before: now.wall + 1, limit: tooMany })
      else if (surplus > 0) queries.push({ ...of, before: now.wall + 1, limit: surplus, lastEvent: exported })
      else queries.push({ ...of, before: now.wall - keep.ageMs, limit: Number.POSITIVE_INFINITY, lastEvent: exported })
    }
  }
  return queries
}

/** Asks for jobs with a `keep` of their own, of which a queue has `count` in that state. */
function ownOver({ wall }: Now, count: number, exported: number | undefined): Pick<KeptQuery, 'own' | 'before' | 'limit' | 'lastEvent'> {
  const tooMany = exported === undefined ? 0 : count - LIMITS.jobsHeldForExports
  if (tooMany > 0) return { own: true, before: wall, limit: tooMany }
  return { own: true, before: wall, limit: Number.POSITIVE_INFINITY, lastEvent: exported }
}

export function finalStates(retention: Retention): readonly (readonly [StateCode, Keep])[] {
  return [
    [COMPLETED, retention.completed],
    [FAILED, retention.failed],
    [CANCELLED, retention.cancelled],
  ]
}

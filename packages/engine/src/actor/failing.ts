/** Lists the job names that fail: the recent runs say which, and the tables if somebody has mended them since. */
import { ACTIVE, FAILED, type Now, type Retention, retentionOf, type Stats, WAITING } from '@millrace/core'
import { countOf, retainedOf, type Tables } from '@millrace/core/kernel'
import type { Meter } from './meter.ts'
import type { Recent } from './timings/recent.ts'

const FAILING_MAX = 100
const MENDED_MS = 60_000

/** The actor, as far as it is asked which names fail. */
export interface Judging {
  readonly tables: Tables
  readonly meter: Meter
  readonly retention: Retention
  readonly now: Now
}

/** Returns the names that fail and are not mended, those with the most failed jobs first, and the number of those that are left out. */
export function failingOf(actor: Judging): Pick<Stats, 'failing' | 'failingLeftOut'> {
  const { meter, now } = actor
  const all = [...meter.timings.failing(now.wall)]
    .filter(([id, { lastAt }, recent]) => !isMended(actor, id, now.wall - lastAt, recent))
    .map(([, name]) => name)
    .sort((a, b) => b.failedJobs - a.failedJobs || b.failed - a.failed)
  return { failing: all.slice(0, FAILING_MAX), ...(all.length > FAILING_MAX && { failingLeftOut: all.length - FAILING_MAX }) }
}

/**
 * True once no job of the name has failed or is tried again: somebody has retried or deleted them. Jobs that wait or run may be those, at
 * their next attempt. Jobs that were pruned are not mended: the last one that failed must be young enough to be kept.
 */
function isMended({ tables, now, retention }: Judging, laneId: number, silentMs: number, recent: Recent): boolean {
  const lane = tables.lanesById.get(laneId)
  if (lane === undefined) return true
  if (silentMs < MENDED_MS || lane.retrying > 0) return false
  if (([FAILED, WAITING, ACTIVE] as const).some((state) => countOf(lane, state) > 0)) return false
  const { ageMs, count } = retentionOf(retention, lane.queue.settings).failed
  return retainedOf(lane.queue, FAILED) < count && !recent.isPruned(ageMs, now.wall)
}

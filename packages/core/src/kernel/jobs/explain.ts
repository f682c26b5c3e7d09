/** Explains why a job has not ended, by the tables that dispatch goes by. */
import type { Now } from '../../clock.ts'
import type { Cause, CauseCode, Explanation } from '../../explanation.ts'
import { ACTIVE, BLOCKED, SCHEDULED, STATES, WAITING } from '../../lifecycle.ts'
import type { PausePart } from '../../pausePart.ts'
import { parsePolicy } from '../../policy.ts'
import { keyLimitsOf, type RateLimit } from '../../queueSettings.ts'
import type { OpenWait } from '../../steps.ts'
import { timeAfter, tokenMs } from '../records/bucket.ts'
import { isAsleep } from '../records/job.ts'
import { countOf, type Lane } from '../records/lane.ts'
import type { JobRow } from '../records/rows.ts'
import { fits, takesJobs } from '../records/session.ts'
import { isShareFull } from '../records/sharedLimits.ts'
import type { TurnStore } from '../state/store.ts'
import type { Tables } from '../state/tables.ts'
import { deadlineAt } from './view.ts'

interface Place {
  readonly tables: Tables
  readonly now: Now
  readonly lane: Lane
  readonly row: JobRow
}

export function explain(store: Pick<TurnStore, 'dependencies'>, tables: Tables, now: Now, row: JobRow): Explanation {
  const lane = tables.laneOf(row.laneId)
  const endsAt = deadlineAt(tables.jobs.get(row.seq), now)
  return {
    name: lane.name,
    queue: lane.queue.name,
    state: STATES[row.state],
    attempt: row.run - row.uncounted,
    maxAttempts: parsePolicy(row.policy).maxAttempts,
    ...(endsAt > 0 && { deadlineAt: endsAt }),
    causes: causesOf(store, { tables, now, lane, row }),
  }
}

function causesOf(store: Pick<TurnStore, 'dependencies'>, place: Place): readonly Cause[] {
  const { state, seq, runAt } = place.row
  if (state === SCHEDULED) {
    const waits = isAsleep(place.row) ? (place.row.extras?.steps?.waiting?.waits ?? []) : []
    return waits.length > 0 ? waits.map(whyAsleep) : [{ code: whyScheduled(place.row), until: runAt }]
  }
  if (state === BLOCKED) return [{ code: 'parents', ...countedOf(store.dependencies([seq])[0]?.pending) }]
  if (state !== WAITING) return []
  const causes = [...pauses(place), ...workers(place), ...limits(place), ...keyCauses(place)]
  return causes.length > 0 ? causes : [{ code: 'line' }]
}

function whyAsleep({ name, message, until }: OpenWait): Cause {
  return {
    ...(message === undefined ? { code: 'sleep', of: name } : { code: 'message', of: message }),
    ...(until !== undefined && { until }),
  }
}

function whyScheduled({ run, uncounted, extras }: JobRow): CauseCode {
  if (extras?.steps?.changed !== undefined) return 'steps-changed'
  return run > uncounted ? 'retry' : 'time'
}

function countedOf(used: number | undefined): Pick<Cause, 'used'> {
  return used === undefined ? {} : { used }
}

function pauses({ tables, lane, row }: Place): Cause[] {
  const { queue } = lane
  const key = row.extras?.concurrencyKey
  const pause = (code: CauseCode, part: PausePart, what: string): Cause => {
    const until = tables.dispatchable.pauseEnds.until({ queue, part, what })
    return { code, ...(part === 'key' && { of: what }), ...(until > 0 && { until }) }
  }
  return [
    ...(tables.paused ? [{ code: 'all-paused' } as const] : []),
    ...(queue.paused ? [pause('queue-paused', 'queue', '')] : []),
    ...(lane.paused ? [pause('name-paused', 'name', lane.name)] : []),
    ...(key !== undefined && queue.keys?.get(key)?.paused === true ? [pause('key-paused', 'key', key)] : []),
  ]
}

function workers({ lane, row: { weight } }: Place): Cause[] {
  const sessions = lane.groups.flatMap((group) => [...group.sessions])
  if (sessions.length === 0) return [{ code: 'no-worker' }]
  const open = sessions.filter(takesJobs)
  if (open.length === 0) return [{ code: 'workers-unavailable' }]
  if (open.some((session) => session.underfilled && fits({ weight }, session))) return []
  const used = open.reduce((sum, session) => sum + session.weight, 0)
  return [{ code: 'workers-full', used, limit: open.reduce((sum, { intro }) => sum + intro.maxConcurrency, 0) }]
}

function limits({ now, lane: { queue }, row }: Place): Cause[] {
  const { concurrencyLimit, sharedLimit, rateLimit } = queue.settings
  const active = countOf(queue, ACTIVE)
  return [
    ...(concurrencyLimit !== undefined && active >= concurrencyLimit
      ? [{ code: 'queue-limit', used: active, limit: concurrencyLimit } as const]
      : []),
    ...(sharedLimit !== undefined && queue.sharing !== undefined && isShareFull(queue)
      ? [{ code: 'shared-limit', of: sharedLimit.name, used: queue.sharing.active, limit: sharedLimit.limit } as const]
      : []),
    ...(rateLimit === undefined ? [] : rateCause('rate-limit', rateLimit, queue.fullMono, now, row)),
  ]
}

function keyCauses({ now, lane: { queue }, row }: Place): Cause[] {
  const text = row.extras?.concurrencyKey
  if (text === undefined) return []
  const { perKeyLimit, perKeyRateLimit } = keyLimitsOf(queue.settings, text)
  const { active = 0, fullMono = 0, paused = false } = queue.keys?.get(text) ?? {}
  const rated = perKeyRateLimit === undefined ? [] : rateCause('key-rate-limit', perKeyRateLimit, fullMono, now, row, text)
  if (queue.settings.keyOrder === 'strict') {
    // Every job of the key is parked until it has the turn, which a pause or the rate may withhold from the first of them.
    const hasTurn = row.backlogId === 0 || paused || (rated.length > 0 && active === 0)
    return hasTurn ? rated : [{ code: 'key-order', of: text }]
  }
  if (perKeyLimit === undefined || active < perKeyLimit) return rated
  return [{ code: 'key-limit', of: text, used: active, limit: perKeyLimit }, ...rated]
}

function rateCause(code: CauseCode, rate: RateLimit, fullMono: number, now: Now, { policy }: JobRow, of?: string): Cause[] {
  const ms = tokenMs(rate, fullMono, now.mono, Math.min(parsePolicy(policy).tokens, rate.burst))
  return ms > 0 ? [{ code, ...(of !== undefined && { of }), until: timeAfter(now.wall, ms) }] : []
}

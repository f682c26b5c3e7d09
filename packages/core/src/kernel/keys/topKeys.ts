/** The keys of a queue that have the most waiting jobs, for answers. */
import type { Now } from '../../clock.ts'
import { LIMITS } from '../../limits.ts'
import type { QueueKey, QueueKeys } from '../../replies.ts'
import { rateNow } from '../records/bucket.ts'
import { type Key, type KeyBacklog, keyRateOf } from '../records/keyBacklog.ts'
import type { Queue } from '../records/lane.ts'
import type { PauseEnds } from '../records/pauseEnds.ts'
import { heaviest } from './heaviest.ts'

/** More than may run of a key, so that a waiting job counts more than all that run. */
const RUNNING_MAX = 2 * LIMITS.concurrencyLimit

/**
 * Returns at most so many keys, the most waiting jobs first. It looks at a bounded number of keys, those that are known longest first:
 * a key with a backlog is one of them, since a key whose jobs have all ended is forgotten.
 */
export function topKeys(queue: Queue, limit: number, ends: PauseEnds, now: Now, lookedMax: number = LIMITS.keysLooked): QueueKeys {
  const { keys } = queue
  const known = keys?.size ?? 0
  const top = heaviest(first(keys?.values() ?? [], lookedMax), limit, weightOf)
  return {
    keys: top.map((key) => viewOf(key, ends, now)),
    known,
    tracked: keys !== undefined,
    ...(known > lookedMax && { partial: true as const }),
  }
}

function viewOf(key: Key, ends: PauseEnds, now: Now): QueueKey {
  const { queue, text, active, paused, fullMono } = key
  const rate = keyRateOf(key)
  const until = ends.until({ queue, part: 'key', what: text })
  return {
    ...{ key: text, waiting: waitingOf(key), active, paused },
    ...(until > 0 && { pausedUntil: until }),
    ...(rate !== undefined && { rate: rateNow(rate, fullMono, now) }),
  }
}

/** Returns at most so many backlogs with parked jobs of a queue, the most jobs first. It looks at a bounded number of keys, too. */
export function mostParked({ keys }: Queue, limit: number): KeyBacklog[] {
  return heaviest(backlogsOf(keys?.values() ?? []), limit, ({ parked }) => parked)
}

function* first(keys: Iterable<Key>, limit: number): Generator<Key, void> {
  let left = limit
  for (const key of keys) {
    if (left-- === 0) return
    yield key
  }
}

function* backlogsOf(keys: Iterable<Key>): Generator<KeyBacklog, void> {
  for (const { backlogs } of first(keys, LIMITS.keysLooked)) yield* backlogs.values()
}

function weightOf(key: Key): number {
  return waitingOf(key) * RUNNING_MAX + key.active + (key.paused ? 0.5 : 0)
}

/** Returns the waiting jobs of a key that are counted; there may be more on disk. */
function waitingOf({ backlogs }: Key): number {
  let waiting = 0
  for (const { inWindow, beyondWindow, parked } of backlogs.values()) waiting += inWindow + beyondWindow + parked
  return waiting
}

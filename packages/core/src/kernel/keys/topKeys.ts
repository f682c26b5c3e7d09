/** The keys of a queue that have the most waiting jobs, for answers. */
import { LIMITS } from '../../limits.ts'
import type { QueueKeys } from '../../replies.ts'
import type { Queue } from '../queues/lane.ts'
import { heaviest } from './heaviest.ts'
import type { Key, KeyBacklog } from './keyBacklog.ts'

/** More than may run of a key, so that a waiting job counts more than all that run. */
const RUNNING_MAX = 2 * LIMITS.concurrencyLimit

/**
 * Returns at most so many keys, the most waiting jobs first. It looks at a bounded number of keys, those that are known longest first:
 * a key with a backlog is one of them, since a key whose jobs have all ended is forgotten.
 */
export function topKeys({ keys }: Queue, limit: number, lookedMax: number = LIMITS.keysLooked): QueueKeys {
  const known = keys?.size ?? 0
  const top = heaviest(first(keys?.values() ?? [], lookedMax), limit, weightOf)
  return {
    keys: top.map((key) => ({ key: key.text, waiting: waitingOf(key), active: key.active, paused: key.paused })),
    known,
    tracked: keys !== undefined,
    ...(known > lookedMax && { partial: true as const }),
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

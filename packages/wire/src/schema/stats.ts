/** The reply to `stats`: there may be many queues with any names, so they travel as a list and not as the keys of a map. */
import type { Stats } from '@millrace/core'
import { boolean, count, type Kind, list, value } from './kinds.ts'
import { field, optional, or, type RecordKind, record } from './record.ts'

const QUEUES_MAX = 100_000

type QueueEntry = readonly [name: string, stats: Stats['queues'][string]]

const entry: Kind<QueueEntry> = {
  says: 'array of a name and a map',
  write: (out, [name, stats]) => {
    out.array(2)
    out.text(name)
    value.write(out, stats)
  },
  read: (from) => {
    if (from.array(2) !== 2) throw from.wrong('an array of a name and a map')
    return [from.text(128), value.read(from) as QueueEntry[1]]
  },
}

const entries = list(entry, QUEUES_MAX)

const queues: Kind<Stats['queues']> = {
  says: entries.says,
  write: (out, of) => entries.write(out, Object.entries(of)),
  // Not one by one: `__proto__` is a name like any other, and must become a property like any other.
  read: (from) => Object.fromEntries(entries.read(from)),
}

const fields = record<Stats>('stats', {
  queues: field(queues, 'by name: the counts of `states`, `retrying`, `paused`, `oldestWaitingMs`'),
  states: field(value as Kind<Stats['states']>, 'map: how many jobs by state'),
  totals: field(value as Kind<Stats['totals']>, 'map'),
  unserved: field(value as Kind<Stats['unserved']>, 'array of maps: `queue`, `name`, `waiting`'),
  workers: field(value as Kind<number>, 'integer'),
  writer: field(value as Kind<Stats['writer']>, 'map'),
  names: or(
    value as Kind<Stats['names']>,
    [],
    'array of maps: `queue`, `name`, counts, `waitMs` and `runMs`, each with `p50`, `p95`, `p99`, `sum` and `buckets` by powers of two',
  ),
  paused: or(boolean, false, 'nothing of any queue starts'),
  queuesLeftOut: optional(count, 'queues that `queues` leaves out'),
  definitions: or(
    value as Kind<Stats['definitions']>,
    [],
    'array of maps: `name`, the `defaults` in force, the `worker` and `host` that have said them, `saidAt`, and the workers they are `disputedBy`',
  ),
  node: or(count, 0, 'number of the file, part of every job id'),
  seq: or(count, 0, 'the last event that they include'),
  retrying: or(count, 0, 'of the scheduled jobs, those that wait for another attempt'),
  store: optional(
    value as Kind<NonNullable<Stats['store']>>,
    'map: `file` (its name), `bytes`, `freeBytes`, `walBytes`, `diskFreeBytes`, `oldestEventAt`; nil where the server does not say',
  ),
  owner: optional(
    value as Kind<NonNullable<Stats['owner']>>,
    'map: the `host` and `pid` of the owner, its `epoch`; nil if the server does not report it',
  ),
  failing: or(
    value as Kind<Stats['failing']>,
    [],
    'array of maps: `queue`, `name`, `runs`, `failed`, `failedJobs`, `streak`, `firstAt`, `lastAt`',
  ),
  failingLeftOut: optional(count, 'names that `failing` leaves out'),
  unservedLeftOut: optional(count, 'names that `unserved` leaves out'),
})

export const STATS: RecordKind<Stats> & { fits(reply: unknown): reply is Stats } = {
  ...fields,
  fits: (reply): reply is Stats =>
    typeof reply === 'object' &&
    reply !== null &&
    'queues' in reply &&
    typeof reply.queues === 'object' &&
    reply.queues !== null &&
    !Array.isArray(reply.queues) &&
    'totals' in reply &&
    'writer' in reply,
}

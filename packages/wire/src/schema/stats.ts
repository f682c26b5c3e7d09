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

/** Maps here have the fields of the tables of answers. */
const fields = record<Stats>('stats', {
  queues: field(queues, 'QueueStats of each'),
  states: field(value as Kind<Stats['states']>, 'StateCounts'),
  totals: field(value as Kind<Stats['totals']>, 'Totals'),
  unserved: field(value as Kind<Stats['unserved']>, 'array: UnservedName'),
  workers: field(value as Kind<number>, 'integer'),
  writer: field(value as Kind<Stats['writer']>, 'WriterStats'),
  names: or(value as Kind<Stats['names']>, [], 'array: NameStats'),
  paused: or(boolean, false),
  queuesLeftOut: optional(count),
  definitions: or(value as Kind<Stats['definitions']>, [], 'array: Definition'),
  node: or(count, 0),
  seq: or(count, 0),
  retrying: or(count, 0),
  store: optional(value as Kind<NonNullable<Stats['store']>>, 'StoreStats'),
  owner: optional(value as Kind<NonNullable<Stats['owner']>>, 'OwnerStats'),
  failing: or(value as Kind<Stats['failing']>, [], 'array: FailingName'),
  failingLeftOut: optional(count),
  unservedLeftOut: optional(count),
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

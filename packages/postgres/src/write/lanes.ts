/** Writes new lanes, and removes those that nothing uses. What is counted of others stands in the journal. */
import type { Lane, TurnHeader } from '@millrace/core/kernel'
import { COUNTERS, countersOf, tombstoneOf } from '@millrace/sql'
import type { Value } from '../bridge/statement.ts'
import type { Batch } from './batch.ts'

const NUMBERS = COUNTERS.map((_name, index) => `$${index + 1}::bigint[]`).join(', ')
const NEXT = COUNTERS.length + 1

const INSERT_QUEUES = 'INSERT INTO queue (id, name) SELECT * FROM unnest($1::bigint[], $2::text[]) ON CONFLICT (id) DO NOTHING'
const INSERT_LANES = `INSERT INTO lane (used_at, used_event, ${COUNTERS.join(', ')}, id, queue, name)
SELECT $${NEXT + 3}::bigint, $${NEXT + 4}::bigint, * FROM unnest(${NUMBERS}, $${NEXT}::bigint[], $${NEXT + 1}::bigint[], $${NEXT + 2}::text[])`

export function writeLanes(batch: Batch, added: readonly Lane[], { at, nextEvent }: TurnHeader): void {
  if (added.length === 0) return
  // The turn that created the queue may also have deleted it: another queue may have its name.
  const names = new Map(added.map(({ queue: { id, name, gone } }) => [id, gone ? tombstoneOf(name, id) : name]))
  batch.add(INSERT_QUEUES, [...names.keys()], [...names.values()])
  const rows = added.map(countersOf)
  const counters = COUNTERS.map((_name, place) => rows.map((row) => row[place] as Value))
  const rest = [added.map(({ id }) => id), added.map(({ queue }) => queue.id), added.map(({ name }) => name)]
  batch.add(INSERT_LANES, ...counters, ...rest, at, nextEvent)
}

/** Removes lanes that no event of the journal names. Their counters are folded before, since a row of the journal may still have them. */
export function forgetLanes(batch: Batch, gone: readonly Lane[]): void {
  if (gone.length === 0) return
  const ids = gone.map(({ id }) => id)
  batch.add('SELECT fold_counters()')
  batch.add('DELETE FROM failure WHERE lane = ANY ($1::bigint[])', ids)
  batch.change('forget lanes', ids.length, 'DELETE FROM lane WHERE id = ANY ($1::bigint[])', ids)
}

/** Writes new lanes, and the counters of the lanes that a turn has touched. */
import type { Lane } from '@millrace/core/kernel'
import { COUNTERS, countersOf, tombstoneOf } from '@millrace/sqlite/rows'
import type { Value } from '../line/statement.ts'
import type { Batch } from './batch.ts'

const NUMBERS = COUNTERS.map((_name, index) => `$${index + 1}::bigint[]`).join(', ')
const NEXT = COUNTERS.length + 1

const INSERT_QUEUES = 'INSERT INTO queue (id, name) SELECT * FROM unnest($1::bigint[], $2::text[]) ON CONFLICT (id) DO NOTHING'
const INSERT_LANES = `INSERT INTO lane (${COUNTERS.join(', ')}, id, queue, name)
SELECT * FROM unnest(${NUMBERS}, $${NEXT}::bigint[], $${NEXT + 1}::bigint[], $${NEXT + 2}::text[])`
const COUNT = `UPDATE lane SET ${COUNTERS.map((name) => `${name} = counted.${name}`).join(', ')}
FROM unnest(${NUMBERS}, $${NEXT}::bigint[]) AS counted (${COUNTERS.join(', ')}, id) WHERE lane.id = counted.id`

export function writeLanes(batch: Batch, added: readonly Lane[], counted: readonly Lane[]): void {
  if (added.length > 0) {
    // The turn that created the queue may also have deleted it: another queue may have its name.
    const names = new Map(added.map(({ queue: { id, name, gone } }) => [id, gone ? tombstoneOf(name, id) : name]))
    batch.add(INSERT_QUEUES, [...names.keys()], [...names.values()])
    const rest = [added.map(({ id }) => id), added.map(({ queue }) => queue.id), added.map(({ name }) => name)]
    batch.add(INSERT_LANES, ...counters(added), ...rest)
  }
  if (counted.length > 0)
    batch.change(
      'count lanes',
      counted.length,
      COUNT,
      ...counters(counted),
      counted.map(({ id }) => id),
    )
}

function counters(lanes: readonly Lane[]): Value[] {
  const rows = lanes.map(countersOf)
  return COUNTERS.map((_name, place) => rows.map((row) => row[place] as Value))
}

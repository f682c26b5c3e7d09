/** Writes new lanes, and the counters of the lanes that a turn has used. */
import type { Lane, TurnHeader } from '@millrace/core/kernel'
import { COUNTERS, countersInto, countersOf, type SqlValue, tombstoneOf } from '@millrace/sql'
import type { Database } from '../driver.ts'
import { expectChanges } from './expect.ts'

export function prepareLanes(db: Database): (added: readonly Lane[], counted: readonly Lane[], turn: TurnHeader) => void {
  const queue = db.prepare('INSERT INTO queue (id, name) VALUES (?, ?) ON CONFLICT (id) DO NOTHING')
  const lane = db.prepare(
    `INSERT INTO lane (${COUNTERS.join(', ')}, used_at, used_event, id, queue, name) VALUES (${Array(COUNTERS.length + 5)
      .fill('?')
      .join(', ')})`,
  )
  const count = db.prepare(`UPDATE lane SET ${COUNTERS.map((name) => `${name} = ?`).join(', ')}, used_at = ?, used_event = ? WHERE id = ?`)
  const values: SqlValue[] = Array(COUNTERS.length + 3).fill(0)
  return (added, counted, { at, nextEvent }) => {
    for (const one of added) {
      // The turn that created the queue may also have deleted it: another queue may have its name.
      const { id, name, gone } = one.queue
      queue.run(id, gone ? tombstoneOf(name, id) : name)
      lane.run(...countersOf(one), at, nextEvent, one.id, one.queue.id, one.name)
    }
    values[COUNTERS.length] = at
    values[COUNTERS.length + 1] = nextEvent
    for (const one of counted) {
      countersInto(one, values)
      values[COUNTERS.length + 2] = one.id
      expectChanges('count a lane', count.run(values).changes, 1)
    }
  }
}

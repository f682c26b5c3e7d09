/** Writes new lanes, and the counters of the lanes that a turn has used. */
import type { Lane, TurnHeader } from '@millrace/core/kernel'
import { tombstoneOf } from '../deletedQueues.ts'
import type { Database, SqlValue } from '../driver.ts'
import { expectChanges } from './expect.ts'

export const COUNTERS = [
  'scheduled',
  'waiting',
  'active',
  'blocked',
  'completed',
  'failed',
  'cancelled',
  'total_enqueued',
  'total_completed',
  'total_failed',
  'total_cancelled',
  'retrying',
] as const

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

export function countersOf(lane: Lane): SqlValue[] {
  const values: SqlValue[] = Array(COUNTERS.length).fill(0)
  countersInto(lane, values)
  return values
}

function countersInto({ counts, totals, retrying }: Lane, values: SqlValue[]): void {
  for (let state = 0; state < 7; state++) values[state] = counts[state] as number
  values[7] = totals.enqueued
  values[8] = totals.completed
  values[9] = totals.failed
  values[10] = totals.cancelled
  values[11] = retrying
}

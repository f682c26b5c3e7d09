/** Writes schedules that are new or changed, those whose times move, and those that are deleted. */
import type { Effects, Schedule } from '@millrace/core/kernel'
import { CHANGING, MOVING, movingOf, restOf } from '@millrace/sql'
import type { Value } from '../bridge/statement.ts'
import type { Batch } from './batch.ts'

const CHANGED = [...CHANGING, 'data_bytes']
const ALL = [...CHANGED, 'created_at', 'id']
const PUT = `INSERT INTO schedule (${ALL.join(', ')}) VALUES (${ALL.map((_name, index) => `$${index + 1}`).join(', ')})
ON CONFLICT (id) DO UPDATE SET ${CHANGED.map((name) => `${name} = excluded.${name}`).join(', ')}`
const MOVE = `UPDATE schedule SET ${MOVING.map((name, index) => `${name} = $${index + 1}`).join(', ')} WHERE id = $${MOVING.length + 1}`

export function writeSchedules(batch: Batch, { schedules }: Effects): void {
  // Keeps their order: a schedule may have been deleted and created again.
  for (const [schedule, change] of schedules) {
    const { id } = schedule
    if (change === 'delete') batch.add('DELETE FROM schedule WHERE id = $1', id)
    else if (change === 'move') batch.change('move a schedule', 1, MOVE, ...movingOf(schedule), id)
    else batch.add(PUT, ...movingOf(schedule), ...payloadApart(schedule), schedule.createdAt, id)
  }
}

function payloadApart(schedule: Schedule): Value[] {
  const values = restOf(schedule)
  const { data } = schedule.job
  return data instanceof Uint8Array ? [...values.map((value) => (value === data ? null : value)), data] : [...values, null]
}

/** Writes schedules that are new or changed, those whose times move, and those that are deleted. */
import type { Effects } from '@millrace/core/kernel'
import { CHANGING, MOVING, movingOf, restOf } from '@millrace/sql'
import type { Database } from '../driver.ts'
import { expectChanges } from './expect.ts'

const ALL = [...CHANGING, 'created_at', 'id'] as const

export function prepareScheduleWrites(db: Database): (effects: Effects) => void {
  const put = db.prepare(
    `INSERT INTO schedule (${ALL.join(', ')}) VALUES (${ALL.map(() => '?').join(', ')})
ON CONFLICT (id) DO UPDATE SET ${CHANGING.map((name) => `${name} = excluded.${name}`).join(', ')}`,
  )
  const move = db.prepare(`UPDATE schedule SET ${MOVING.map((name) => `${name} = ?`).join(', ')} WHERE id = ?`)
  const remove = db.prepare('DELETE FROM schedule WHERE id = ?')
  return ({ schedules }) => {
    // Keeps their order: a schedule may have been deleted and created again.
    for (const [schedule, change] of schedules) {
      const { id } = schedule
      if (change === 'delete') remove.run(id)
      else if (change === 'move') expectChanges('move a schedule', move.run(...movingOf(schedule), id).changes, 1)
      else put.run(...movingOf(schedule), ...restOf(schedule), schedule.createdAt, id)
    }
  }
}

/** Writes schedules that are new or changed, those whose times move, and those that are deleted. */
import type { Effects, Schedule } from '@millrace/core/kernel'
import type { Database, SqlValue } from '../driver.ts'
import { expectChanges } from './expect.ts'

/** The columns that move with every tick. */
export const MOVING = [
  'next_at',
  'fire_at',
  'last_at',
  'held',
  'paused',
  'behind',
  'fired',
  'skipped',
  'job_seq',
  'job_node',
  'job_enqueued_at',
] as const

export const CHANGING = [...MOVING, 'spec', 'name', 'options', 'data', 'anchor', 'updated_at'] as const
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

export function movingOf({ nextAt, fireAt, lastAt, held, paused, behind, fired, skipped, last }: Schedule): SqlValue[] {
  const job = [last?.seq ?? null, last?.node ?? null, last?.enqueuedAt ?? null]
  return [timeOf(nextAt), timeOf(fireAt), timeOf(lastAt), held ? 1 : 0, paused ? 1 : 0, behind, fired, skipped, ...job]
}

export function restOf({ spec, job: { name, data, ...options }, anchor, updatedAt }: Schedule): SqlValue[] {
  return [JSON.stringify(spec), name, JSON.stringify(options), data, anchor, updatedAt]
}

function timeOf(ms: number): number | null {
  return ms === 0 ? null : ms
}

/** Reads schedules: by id, by the time at which they fire, and by pages. */
import type { Deadlines, Schedule } from '@millrace/core/kernel'
import { MAY_FIRE, type RawSchedule, SCHEDULE_NAMES, scheduleFrom } from '@millrace/sql'
import type { Database } from '../driver.ts'

const COLUMNS = SCHEDULE_NAMES.map((name) => `schedule.${name}`).join(', ')

/** The limit for one slice's payloads; the next turn reads the rest. */
const SLICE_BYTES = 16 * 2 ** 20

export function prepareSchedules(db: Database): (ids: readonly string[]) => Schedule[] {
  const statement = db.prepare(`SELECT ${COLUMNS} FROM json_each(?) AS wanted CROSS JOIN schedule ON schedule.id = wanted.value`).raw()
  return (ids) => (statement.all(JSON.stringify(ids)) as RawSchedule[]).map(scheduleFrom)
}

export function prepareDueSchedules(db: Database): (at: number, limit: number) => Schedule[] {
  const statement = db.prepare(`SELECT ${COLUMNS} FROM schedule WHERE ${MAY_FIRE} AND fire_at <= ? ORDER BY fire_at LIMIT ?`).raw()
  return (at, limit) => {
    const schedules: Schedule[] = []
    let bytes = 0
    for (const raw of statement.iterate(at, limit) as Iterable<RawSchedule>) {
      bytes += raw[4]?.length ?? 0
      if (schedules.length > 0 && bytes > SLICE_BYTES) break
      schedules.push(scheduleFrom(raw))
    }
    return schedules
  }
}

export function prepareSchedulePage(db: Database): (prefix: string, after: string | undefined, limit: number) => Schedule[] {
  const statement = db
    .prepare(`SELECT ${COLUMNS.replace('schedule.data', 'NULL')} FROM schedule WHERE id > ? AND id >= ? AND id < ? ORDER BY id LIMIT ?`)
    .raw()
  // Ids are ASCII: none is greater than its prefix followed by a letter that is not ASCII.
  return (prefix, after = '', limit) => (statement.all(after, prefix, `${prefix}\u{10ffff}`, limit) as RawSchedule[]).map(scheduleFrom)
}

export function prepareFireAt(db: Database): () => Pick<Deadlines, 'fireAt'> {
  const statement = db.prepare(`SELECT min(fire_at) FROM schedule WHERE ${MAY_FIRE}`).pluck()
  return () => ({ fireAt: (statement.get() as number | null) ?? 0 })
}

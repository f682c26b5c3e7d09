/** Reads schedules: by id, by the time at which they fire, and by pages. */
import type { Schedule } from '@millrace/core/kernel'
import { MAY_FIRE, type RawSchedule, SCHEDULE_NAMES, scheduleFrom } from '@millrace/sql'
import type { Connection } from '../connection.ts'

const COLUMNS = [...SCHEDULE_NAMES, 'data_bytes'].map((name) => `schedule.${name}`).join(', ')
const BARE_COLUMNS = COLUMNS.replace('schedule.data,', 'NULL,').replace('schedule.data_bytes', 'NULL::bytea')

type SizedSchedule = [...RawSchedule, bytes: Uint8Array | null]

/** The limit for one slice's payloads; the next turn reads the rest. */
const SLICE_BYTES = 16 * 2 ** 20

export function prepareSchedules(connection: Connection): (ids: readonly string[]) => Schedule[] {
  const sql = `SELECT ${COLUMNS} FROM unnest($1::text[]) WITH ORDINALITY AS asked (id, place)
JOIN schedule ON schedule.id = asked.id ORDER BY asked.place`
  return (ids) => connection.all<SizedSchedule>(sql, ids).map(withBytes)
}

export function prepareDueSchedules(connection: Connection): (at: number, limit: number) => Schedule[] {
  const sql = `SELECT ${COLUMNS} FROM (
  SELECT *, sum(coalesce(octet_length(data), octet_length(data_bytes), 0)) OVER (ORDER BY fire_at, id) AS bytes, row_number() OVER (ORDER BY fire_at, id) AS place
  FROM (SELECT * FROM schedule WHERE ${MAY_FIRE} AND fire_at <= $1 ORDER BY fire_at LIMIT $2) AS due
) AS schedule WHERE schedule.place = 1 OR schedule.bytes <= ${SLICE_BYTES} ORDER BY schedule.place`
  return (at, limit) => connection.all<SizedSchedule>(sql, at, limit).map(withBytes)
}

export function prepareSchedulePage(connection: Connection): (prefix: string, after: string | undefined, limit: number) => Schedule[] {
  const sql = `SELECT ${BARE_COLUMNS} FROM schedule WHERE id > $1 AND id >= $2 AND id < $3 ORDER BY id LIMIT $4`
  // Ids are ASCII: none is greater than its prefix followed by a letter that is not ASCII.
  return (prefix, after = '', limit) => connection.all<SizedSchedule>(sql, after, prefix, `${prefix}\u{10ffff}`, limit).map(withBytes)
}

function withBytes(row: SizedSchedule): Schedule {
  const raw = row.slice(0, -1) as unknown as RawSchedule
  raw[4] ??= row.at(-1) as Uint8Array | null
  return scheduleFrom(raw)
}

/** Reads schedules: by id, by the time at which they fire, by pages; and those that wait for a job that has ended. */
import type { Data, NewJob, ScheduleSpec } from '@millrace/core'
import type { Deadlines, Schedule } from '@millrace/core/kernel'
import type { Database } from '../driver.ts'

export const SCHEDULE_NAMES = [
  'id',
  'spec',
  'name',
  'options',
  'data',
  'anchor',
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
  'created_at',
  'updated_at',
] as const

const COLUMNS = SCHEDULE_NAMES.map((name) => `schedule.${name}`).join(', ')

export type RawSchedule = [
  id: string,
  spec: string,
  name: string,
  options: string,
  data: Data,
  anchor: number,
  nextAt: number | null,
  fireAt: number | null,
  lastAt: number | null,
  held: number,
  paused: number,
  behind: number,
  fired: number,
  skipped: number,
  jobSeq: number | null,
  jobNode: number | null,
  jobEnqueuedAt: number | null,
  createdAt: number,
  updatedAt: number,
]

/** The limit for one slice's payloads; the next turn reads the rest. */
const SLICE_BYTES = 16 * 2 ** 20

export function prepareSchedules(db: Database): (ids: readonly string[]) => Schedule[] {
  const statement = db.prepare(`SELECT ${COLUMNS} FROM json_each(?) AS wanted CROSS JOIN schedule ON schedule.id = wanted.value`).raw()
  return (ids) => (statement.all(JSON.stringify(ids)) as RawSchedule[]).map(scheduleFrom)
}

// These conditions make SQLite use the partial index.
export const MAY_FIRE = 'fire_at IS NOT NULL AND paused = 0 AND held = 0'

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

export function prepareFreed(db: Database): () => string[] {
  const statement = db
    .prepare('SELECT id FROM schedule LEFT JOIN job ON job.seq = schedule.job_seq WHERE held = 1 AND (job.state IS NULL OR job.state >= 4)')
    .pluck()
  return () => statement.all() as string[]
}

export function prepareFireAt(db: Database): () => Pick<Deadlines, 'fireAt'> {
  const statement = db.prepare(`SELECT min(fire_at) FROM schedule WHERE ${MAY_FIRE}`).pluck()
  return () => ({ fireAt: (statement.get() as number | null) ?? 0 })
}

export function scheduleFrom(raw: RawSchedule): Schedule {
  const [jobSeq, jobNode, jobEnqueuedAt] = [raw[14], raw[15], raw[16]]
  return {
    id: raw[0],
    spec: parsed(raw[1], UNREADABLE),
    job: { name: raw[2], data: raw[4], ...optionsFrom(raw[3]) },
    anchor: raw[5],
    nextAt: raw[6] ?? 0,
    fireAt: raw[7] ?? 0,
    lastAt: raw[8] ?? 0,
    held: raw[9] === 1,
    paused: raw[10] === 1,
    behind: raw[11],
    fired: raw[12],
    skipped: raw[13],
    last: jobSeq === null ? undefined : { seq: jobSeq, node: jobNode as number, enqueuedAt: jobEnqueuedAt as number },
    createdAt: raw[17],
    updatedAt: raw[18],
  }
}

/** Stands for a broken spec: no calendar accepts it, so the schedule is paused when its time comes, and no other waits. */
const UNREADABLE: ScheduleSpec = { cron: '', jitter: 0, overlap: 'skip', catchUp: 'latest' }

function parsed<T>(text: string, otherwise: T): T {
  try {
    return JSON.parse(text) as T
  } catch {
    return otherwise
  }
}

/** JSON has no Infinity: null stands for it. */
function optionsFrom(text: string): Omit<NewJob, 'name' | 'data'> {
  const options: { timeout?: number | null } & Omit<NewJob, 'name' | 'data' | 'timeout'> = parsed(text, {})
  const { timeout, ...rest } = options
  return timeout === undefined ? rest : { ...rest, timeout: timeout ?? Number.POSITIVE_INFINITY }
}

/** Makes rows into schedules. */
import type { Data, NewJob, ScheduleSpec } from '@millrace/core'
import type { Schedule } from '@millrace/core/kernel'

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

/** These conditions make SQLite use its partial index. */
export const MAY_FIRE = 'fire_at IS NOT NULL AND paused = 0 AND held = 0'

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

/** Schedules as the engine holds them: when they tick, and when a tick fires. */
import type { NewJob } from '../../commands.ts'
import type { JobKey } from '../../id.ts'
import { LIMITS } from '../../limits.ts'
import { type Calendar, DEFAULT_TIMEZONE, type ScheduleSpec } from '../../schedule.ts'

/** The schedule's record: read from its row, changed by the turn that decides about it, and written again. */
export interface Schedule {
  readonly id: string
  spec: ScheduleSpec
  /** The job that comes. */
  job: NewJob
  /** The time from which `every` counts. */
  anchor: number
  /** The tick that comes next; 0 where none does. */
  nextAt: number
  /** When it fires. */
  fireAt: number
  /** The last tick that has fired. */
  lastAt: number
  /** The tick is due, and waits for the job of an earlier one to end. */
  held: boolean
  paused: boolean
  /** Ticks in a row that fired after the one that followed them was due. */
  behind: number
  /** Ticks that fired, those by hand included, and ticks that an overlap has cost. */
  fired: number
  skipped: number
  /** The job that came last. */
  last: JobKey | undefined
  readonly createdAt: number
  updatedAt: number
}

/** The changes of a turn to a schedule's row. */
export type ScheduleChange = 'move' | 'put' | 'delete'

/** The first tick after `after`, within the schedule's bounds; 0 where there is none. */
export function tickAfter({ spec, anchor }: Pick<Schedule, 'spec' | 'anchor'>, after: number, calendar: Calendar): number {
  const { cron, timezone = DEFAULT_TIMEZONE, every = 0, startAt = 0, endAt = Number.POSITIVE_INFINITY } = spec
  const from = Math.max(after, startAt - 1)
  const tick =
    cron === undefined
      ? from < anchor
        ? anchor
        : anchor + (Math.floor((from - anchor) / every) + 1) * every
      : calendar.next(cron, timezone, from)
  return tick > endAt || tick > LIMITS.timeMs ? 0 : tick
}

/** Returns how many jobs are still to come; Infinity if there is no bound. */
export function runsLeft({ spec: { maxRuns = Number.POSITIVE_INFINITY }, fired }: Pick<Schedule, 'spec' | 'fired'>): number {
  return Math.max(0, maxRuns - fired)
}

/** The last tick that is not after `until`; `known` is one that is not. */
export function latestTick(schedule: Schedule, known: number, until: number, calendar: Calendar): number {
  const { every, endAt = Number.POSITIVE_INFINITY } = schedule.spec
  const last = Math.min(until, endAt)
  if (every !== undefined) return Math.max(known, schedule.anchor + Math.floor((last - schedule.anchor) / every) * every)
  // Between a time that has a tick behind it and one that has none: however many there are, it takes some forty steps.
  let [low, high] = [known - 1, last]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    const next = tickAfter(schedule, middle, calendar)
    if (next !== 0 && next <= last) low = next - 1
    else high = middle
  }
  return low + 1
}

/**
 * When a tick fires: the same for the same schedule and tick, whoever asks; before the next one, which would otherwise be late at once; and at a
 * time that a Date can hold.
 */
export function fireTime(schedule: Pick<Schedule, 'id' | 'spec' | 'anchor'>, tick: number, calendar: Calendar): number {
  const { id, spec } = schedule
  if (tick === 0 || spec.jitter === 0) return tick
  const next = spec.cron === undefined ? 0 : followerOf(schedule, tick, calendar)
  const jitter = next === 0 ? spec.jitter : Math.min(spec.jitter, next - tick - 1)
  return Math.min(tick + (hash(`${id} ${tick}`) % (jitter + 1)), LIMITS.timeMs)
}

/** A spec that no calendar understands is found when its tick comes. */
function followerOf(schedule: Pick<Schedule, 'spec' | 'anchor'>, tick: number, calendar: Calendar): number {
  try {
    return tickAfter(schedule, tick, calendar)
  } catch {
    return 0
  }
}

/** FNV-1a, whose low bits are mixed once more. */
function hash(text: string): number {
  let state = 0x811c9dc5
  for (let index = 0; index < text.length; index++) state = Math.imul(state ^ text.charCodeAt(index), 0x01000193)
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b)
  return (state ^ (state >>> 13)) >>> 0
}

/** The ticks that two specs name are the same. */
export function sameTicks(a: ScheduleSpec, b: ScheduleSpec): boolean {
  return (
    a.cron === b.cron &&
    a.timezone === b.timezone &&
    a.every === b.every &&
    a.startAt === b.startAt &&
    a.endAt === b.endAt &&
    a.jitter === b.jitter
  )
}

/** The tag by which the jobs of a schedule are found. */
export function scheduleTag(id: string): string {
  return `schedule:${id}`
}

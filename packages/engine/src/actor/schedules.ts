/** Answers questions about schedules. */
import {
  type Calendar,
  type GetScheduleCommand,
  LIMITS,
  type ListSchedulesCommand,
  type SchedulePage,
  type ScheduleView,
  STATES,
} from '@millrace/core'
import { findRow, fireTime, type Questions, queueOf, runsLeft, type Schedule, type Tables, tickAfter } from '@millrace/core/kernel'

interface Asked {
  readonly store: Questions
  readonly calendar: Calendar
  readonly tables: Tables
}

export function scheduleOf({ store, calendar }: Asked, { id, times }: GetScheduleCommand): ScheduleView | null {
  const [schedule] = store.schedules([id])
  if (schedule === undefined) return null
  const next = schedule.paused ? [] : timesOf(schedule, Math.min(times, LIMITS.timesPerSchedule), calendar)
  return { ...viewOf(schedule), times: next, result: resultOf(store, schedule) }
}

export function schedulesOf(asked: Asked, command: ListSchedulesCommand): SchedulePage {
  const { found, next } = findSchedules(asked, command)
  const results = resultsOf(asked.store, found)
  const schedules = found.map((schedule) => ({ ...viewOf(schedule), result: results.get(schedule.last?.seq ?? 0) ?? null }))
  return { schedules, next }
}

/** Looks at a bounded number of schedules, because neither queue nor name has an index. */
function findSchedules({ store, tables }: Asked, { prefix, after, limit, queue, name }: ListSchedulesCommand) {
  const size = Math.min(limit, LIMITS.pageSchedules)
  const found: Schedule[] = []
  let place = after
  for (let scanned = 0; scanned < LIMITS.sliceRows; ) {
    const page = store.schedulePage(prefix, place, size)
    for (const schedule of page) {
      place = schedule.id
      const { job } = schedule
      if ((name ?? job.name) === job.name && (queue === undefined || queueOf(tables, job) === queue)) found.push(schedule)
      if (found.length === size) return { found, next: place }
    }
    if (page.length < size) return { found, next: null }
    scanned += page.length
  }
  return { found, next: place ?? null }
}

function viewOf({ id, spec, job, paused, fireAt, lastAt, fired, skipped, createdAt, updatedAt, last }: Schedule): ScheduleView {
  const next = paused ? 0 : fireAt
  return { id, spec, job, paused, fireAt: next, times: [], lastAt, fired, skipped, createdAt, updatedAt, last: last ?? null, result: null }
}

/** Returns the next times, as if no tick were late. */
function timesOf(schedule: Schedule, count: number, calendar: Calendar): number[] {
  const times: number[] = []
  const most = Math.min(count, runsLeft(schedule))
  for (let tick = schedule.nextAt; tick !== 0 && times.length < most; tick = tickAfter(schedule, tick, calendar))
    times.push(fireTime(schedule, tick, calendar))
  return times
}

/** Returns the results of the last jobs by their rows, in short: without outputs and stacks. */
function resultsOf(store: Questions, schedules: readonly Schedule[]): ReadonlyMap<number, NonNullable<ScheduleView['result']>> {
  const last = new Map(schedules.flatMap((schedule) => (schedule.last === undefined ? [] : [[schedule.last.seq, schedule.last] as const])))
  const rows = store.jobs([...last.keys()], 0).filter(({ seq, node, enqueuedAt }) => {
    const job = last.get(seq)
    return job?.node === node && job.enqueuedAt === enqueuedAt
  })
  const results = store.withLastRuns(rows).map(({ seq, state, lastRun }) => {
    const error = STATES[state] === 'failed' ? (lastRun?.error ?? null) : null
    return [seq, { state: STATES[state], output: null, error }] as const
  })
  return new Map(results)
}

function resultOf(store: Questions, { last }: Schedule): ScheduleView['result'] {
  const row = last && findRow(store, last)
  if (row === undefined) return null
  const state = STATES[row.state]
  return { state, output: row.output, error: state === 'failed' ? (store.lastError(row.seq) ?? null) : null }
}

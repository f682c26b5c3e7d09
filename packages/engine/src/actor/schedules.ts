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
import { findRow, fireTime, type Questions, runsLeft, type Schedule, tickAfter } from '@millrace/core/kernel'

interface Asked {
  readonly store: Questions
  readonly calendar: Calendar
}

export function scheduleOf({ store, calendar }: Asked, { id, times }: GetScheduleCommand): ScheduleView | null {
  const [schedule] = store.schedules([id])
  if (schedule === undefined) return null
  const next = schedule.paused ? [] : timesOf(schedule, Math.min(times, LIMITS.timesPerSchedule), calendar)
  return { ...viewOf(schedule), times: next, result: resultOf(store, schedule) }
}

export function schedulesOf({ store }: Asked, { prefix, after, limit }: ListSchedulesCommand): SchedulePage {
  const size = Math.min(limit, LIMITS.pageSchedules)
  const found = store.schedulePage(prefix, after, size)
  const results = resultsOf(store, found)
  const schedules = found.map((schedule) => ({ ...viewOf(schedule), result: results.get(schedule.last?.seq ?? 0) ?? null }))
  return { schedules, next: schedules.length < size ? null : (schedules.at(-1)?.id ?? null) }
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

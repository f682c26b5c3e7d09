/** Schedules for tests of the store. */
import type { ScheduleSpec } from '@millrace/core'
import type { Schedule } from '@millrace/core/kernel'

export const PLAIN = { jitter: 0, overlap: 'skip', catchUp: 'latest' } as const satisfies Partial<ScheduleSpec>

export function scheduleOf(id: string, changes: Partial<Schedule> = {}): Schedule {
  return {
    id,
    spec: { cron: '0 0 * * *', timezone: 'UTC', ...PLAIN },
    job: { name: 'report', data: '{"n":1}' },
    anchor: 0,
    nextAt: 0,
    fireAt: 0,
    lastAt: 0,
    held: false,
    paused: false,
    behind: 0,
    fired: 0,
    skipped: 0,
    last: undefined,
    createdAt: 1,
    updatedAt: 1,
    ...changes,
  }
}

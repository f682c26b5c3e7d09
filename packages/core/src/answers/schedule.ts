/** The fields of a schedule. */
import { type NewJob, RUN_OPTIONS, SCHEDULE_OPTIONS, type ScheduleSpec, STATES } from '@millrace/core'
import { RUN_ERROR } from './job.ts'
import { BOOLEAN, COUNT, choice, DATA, ID, list, options, record, STRING, TIME } from './kind.ts'

const NEXT_RUN = {
  kind: TIME,
  from: 'fireAt',
  says: 'Time of the next tick',
  zero: 'while the schedule is paused, and after its last tick',
} as const

export const SCHEDULE_RESULT = record('ScheduleResult', {
  state: { kind: choice(STATES), says: 'State of the job' },
  output: { kind: DATA, says: 'Output of the job', nil: 'if there is none, and in lists' },
  error: { kind: RUN_ERROR, says: 'Error that the job failed with; in lists its name and message', nil: 'if there is none' },
})

/** The fields that an engine and its clients have alike. */
export const SCHEDULE = record('Schedule', {
  id: { kind: STRING, says: 'Id of the schedule' },
  paused: { kind: BOOLEAN, says: 'True if the schedule is paused' },
  nextRunAt: NEXT_RUN,
  nextRuns: { kind: list(TIME), from: 'times', says: 'Times of the next ticks, as many as were asked for' },
  lastRunAt: { kind: TIME, from: 'lastAt', says: 'Time of the last tick that fired', zero: 'before the first' },
  lastJobId: { kind: ID, from: 'last', says: 'Id of the last job that was created', nil: 'before the first' },
  lastResult: {
    kind: SCHEDULE_RESULT,
    from: 'result',
    says: 'State and result of that job',
    nil: 'if the job is no longer kept',
  },
  runs: { kind: COUNT, from: 'fired', says: 'Number of jobs that were created so far' },
  skipped: { kind: COUNT, says: 'Number of ticks that were skipped because of `overlap: skip`' },
  createdAt: { kind: TIME, says: 'Time at which the schedule was created' },
  updatedAt: { kind: TIME, says: 'Time at which the schedule was last changed' },
})

const { id, ...ROWS } = SCHEDULE.rows

/** The same with what only the engine's answer has: clients show the parts of `spec` and `job` as fields of their own. */
export const STORED_SCHEDULE = record('ScheduleInfo', {
  id,
  spec: { kind: options<ScheduleSpec>(SCHEDULE_OPTIONS), says: 'Options of the schedule' },
  job: { kind: options<NewJob>(RUN_OPTIONS), says: 'Job of each tick; in lists without `data`' },
  ...ROWS,
})

export const SCHEDULE_SET = record('ScheduleSet', {
  created: { kind: BOOLEAN, says: 'False if there was a schedule of that id' },
  nextRunAt: NEXT_RUN,
  waitingUpdated: { kind: COUNT, says: 'Number of waiting jobs that were changed', missing: 'unless it was asked for' },
})

/** Commands about schedules. */
import type { NewJob } from './commands.ts'
import type { ScheduleSpec } from './schedule.ts'

/** Creates a schedule or changes it, as far as `absent` and `updatedAt` allow. One whose ticks are the same keeps its next. Reply: `Upserted`. */
export interface UpsertScheduleCommand {
  readonly op: 'upsertSchedule'
  readonly id: string
  readonly spec: ScheduleSpec
  /** The job, without keys, `delay` and `runAt`: each tick creates it once. */
  readonly job: NewJob
  /** A new schedule's first job comes at once. */
  readonly runImmediately: boolean
  /** Undefined: as it is; a new one is not paused. */
  readonly paused?: boolean
  /** Refused if there is one: SCHEDULE_EXISTS. */
  readonly absent?: boolean
  /** Refused unless there is one that was last changed then: SCHEDULE_NOT_FOUND, SCHEDULE_CHANGED. */
  readonly updatedAt?: number
  /** Its last job takes the data, priority, weight, tags and meta of `job` where it has the same name and has never run. */
  readonly updateWaiting?: boolean
}

/** Reply: `ScheduleView`, or null where there is none. */
export interface GetScheduleCommand {
  readonly op: 'getSchedule'
  readonly id: string
  /** The number of next times to return. */
  readonly times: number
}

/** One page in order of the ids. Reply: `SchedulePage`. */
export interface ListSchedulesCommand {
  readonly op: 'listSchedules'
  /** Prefix of the ids. */
  readonly prefix: string
  readonly limit: number
  /** Ids behind this one. */
  readonly after?: string
  /** Only those whose jobs go to this queue. The page may then be short, or empty, and yet have a `next`. */
  readonly queue?: string
  /** Only those whose jobs have this name; as with `queue`. */
  readonly name?: string
}

/** Removes a schedule, and its job where that has not started. Reply: true. */
export interface DeleteScheduleCommand {
  readonly op: 'deleteSchedule'
  readonly id: string
}

/** No tick fires until it is resumed. Reply: true. */
export interface PauseScheduleCommand {
  readonly op: 'pauseSchedule'
  readonly id: string
}

/** Goes on with the first tick from now. Reply: true. */
export interface ResumeScheduleCommand {
  readonly op: 'resumeSchedule'
  readonly id: string
}

/** The schedule's job comes now, beside its ticks. Reply: `Enqueued[]`, of one. */
export interface TriggerScheduleCommand {
  readonly op: 'triggerSchedule'
  readonly id: string
  /** JSON text of an object, put over the `meta` of the schedule's job. */
  readonly meta?: string
}

/** The fields of events, by what they are about. */
import { JOB_EVENT_TYPES, MISS_REASONS, SYSTEM_EVENT_TYPES, type SystemEventType } from '@millrace/core'
import { COUNT, choice, ID, NUMBER, record, STRING, TIME } from './kind.ts'

type TypeOf<About extends string> = Extract<SystemEventType, `${About}.${string}`>

const typesAbout = <const About extends string>(about: About): readonly TypeOf<About>[] =>
  SYSTEM_EVENT_TYPES.filter((type): type is TypeOf<About> => type.startsWith(`${about}.`))

const SEQ = { kind: COUNT, says: 'Number of the event, which only grows: a cursor' } as const
const AT = { kind: TIME, says: 'Time of the event' } as const
const JOB_ID = { kind: ID, says: 'Id of the job' } as const

export const JOB_EVENT = record('JobEvent', {
  seq: SEQ,
  type: { kind: choice(JOB_EVENT_TYPES), says: 'Type of the event' },
  at: AT,
  jobId: JOB_ID,
  queue: { kind: STRING, says: 'Queue of the job' },
  name: { kind: STRING, says: 'Name of the job' },
  run: { kind: COUNT, says: 'Number of the job’s last run' },
  attempt: { kind: COUNT, says: 'Number of the job’s last attempt' },
  error: { kind: STRING, says: 'Name of the error, for `failed` and `retrying`', missing: 'for other types' },
  progress: { kind: NUMBER, from: 'fraction', says: 'Progress from 0 to 1, for `progress`', missing: 'for other types' },
  runAt: { kind: TIME, says: 'Time at which the job is due', missing: 'if it is not due later' },
})

export const QUEUE_EVENT = record('QueueEvent', {
  seq: SEQ,
  type: { kind: choice(typesAbout('queue')), says: 'Type of the event' },
  at: AT,
  queue: { kind: STRING, says: 'Name of the queue' },
  name: { kind: STRING, says: 'Job name that was paused or resumed', missing: 'unless only jobs of a name were' },
  key: { kind: STRING, says: 'Concurrency key that was paused or resumed', missing: 'unless only jobs of a key were' },
})

export const SCHEDULE_EVENT = record('ScheduleEvent', {
  seq: SEQ,
  type: { kind: choice(typesAbout('schedule')), says: 'Type of the event' },
  at: AT,
  schedule: { kind: STRING, says: 'Id of the schedule' },
  tick: { kind: TIME, says: 'Time of the tick, for `schedule.fired` and `schedule.skipped`', missing: 'for other types' },
  jobId: {
    kind: ID,
    from: 'job',
    says: 'Id of the job that was created, for `schedule.fired` and `schedule.triggered`',
    missing: 'for other types',
  },
  reason: { kind: choice(MISS_REASONS), says: 'Reason, for `schedule.skipped`', missing: 'for other types' },
})

export const WORKER_EVENT = record('WorkerEvent', {
  seq: SEQ,
  type: { kind: choice(typesAbout('worker')), says: 'Type of the event' },
  at: AT,
  worker: { kind: STRING, says: 'Id of the worker' },
  session: { kind: STRING, says: 'Number of its session, which distinguishes the workers that had the id' },
  name: { kind: STRING, says: 'Job name for which other defaults are in force, for `worker.disputed`', missing: 'for other types' },
})

export const ENGINE_EVENT = record('EngineEvent', {
  seq: SEQ,
  type: { kind: choice(typesAbout('engine')), says: 'Type of the event' },
  at: AT,
})

export const EVENTS_GAP = record(
  'EventsGap',
  {
    type: { kind: choice(['gap']), says: 'Always `gap`' },
    after: { kind: COUNT, says: 'Last event before the gap, as it was asked for' },
    resumesAt: { kind: COUNT, says: 'Lowest number that the next event may have' },
  },
  'Events behind `after` and before `resumesAt` are not kept any more.',
)

export const EXPORT = record('Export', {
  name: { kind: STRING, says: 'Name of the export' },
  cursor: { kind: COUNT, says: 'Last event that it has confirmed' },
  behind: { kind: COUNT, says: 'Number of events since then' },
})

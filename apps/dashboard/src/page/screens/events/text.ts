/** Sentences of the list of events. */
import { count, counted } from '../../format/numbers.ts'

export const EVENTS_TEXT = {
  list: 'Events, the newest first',
  filter: 'Filter events',
  type: 'Type',
  queue: 'Queue',
  name: 'Job name',
  job: 'Job id',
  every: 'All types',
  groups: { jobs: 'Jobs', queues: 'Queues', schedules: 'Schedules', workers: 'Workers', engine: 'Engine' },
  clear: 'Clear the filter',
  columns: { time: 'Time', type: 'Event', what: 'Of', queue: 'Queue', detail: 'Detail' },
  pause: 'Pause',
  resume: 'Resume',
  keyPause: 'Pause or resume the list',
  keyFilter: 'Filter',
  group: 'Events',
  state: {
    opening: 'Connecting',
    on: 'Following',
    off: 'Paused',
    down: 'The stream was refused or has ended. It is opened again soon.',
  },
  shown: (rows: number, kept: number) => (rows >= kept ? `the last ${count(kept)}` : counted(rows, 'event')),
  none: {
    title: 'No events yet',
    text: 'Each change of a job, a queue, a schedule or a worker shows up here as it happens.',
    filtered: 'None of the recent events matches. New ones show up here as they happen.',
  },
  gap: 'gap',
  gapMore: 'events before this are no longer kept',
  all: 'all queues',
  ofName: (name: string) => `jobs named ${name}`,
  ofKey: (key: string) => `jobs with the key ${key}`,
  percent: (fraction: number) => `${Math.round(fraction * 100)} %`,
  attempt: (attempt: number) => `attempt ${count(attempt)}`,
} as const

/** Counts that several answers have: by state, in total, in the past. */
import { HISTORY_STEPS, LIMITS } from '@millrace/core'
import { COUNT, choice, list, map, record, STRING, TIME } from './kind.ts'

export const STATE_COUNTS = record('StateCounts', {
  scheduled: { kind: COUNT, says: 'Jobs that wait for their time, or for another attempt' },
  waiting: { kind: COUNT, says: 'Jobs that are due and wait for a worker' },
  active: { kind: COUNT, says: 'Jobs that run' },
  blocked: { kind: COUNT, says: 'Jobs that wait for other jobs of their flow' },
  completed: { kind: COUNT, says: 'Jobs that completed and are still kept' },
  failed: { kind: COUNT, says: 'Jobs that failed permanently and are still kept' },
  cancelled: { kind: COUNT, says: 'Jobs that were cancelled and are still kept' },
})

export const RETRYING = { kind: COUNT, says: 'Scheduled jobs that wait for another attempt' } as const

export const TOTALS = record('Totals', {
  enqueued: { kind: COUNT, says: 'Jobs that were enqueued' },
  completed: { kind: COUNT, says: 'Jobs that completed' },
  failed: { kind: COUNT, says: 'Jobs that failed permanently' },
  cancelled: { kind: COUNT, says: 'Jobs that were cancelled' },
})

export const HISTORY_POINT = record('HistoryPoint', {
  at: { kind: TIME, says: 'Time at which the minute or hour began' },
  ...TOTALS.rows,
})

const column = (says: string) => ({ kind: list(COUNT), says })

export const HISTORY_COLUMNS = record(
  'HistoryColumns',
  {
    enqueued: column('Jobs that were enqueued in each minute or hour'),
    completed: column('Jobs that completed in each'),
    failed: column('Jobs that failed permanently in each'),
    cancelled: column('Jobs that were cancelled in each'),
  },
  'Arrays of one length: place i is the minute or hour that begins i steps after `from`.',
)

const FROM = { kind: TIME, says: 'Time at which the first minute or hour began' } as const
const STEP = { kind: choice(HISTORY_STEPS), says: 'Length of each place' } as const
const TOTAL = { kind: HISTORY_COLUMNS, says: 'Sum of all queues' } as const
const LEFT_OUT = {
  kind: COUNT,
  says: `Number of queues that \`total\` leaves out, because it counts the ${LIMITS.historySummed.toLocaleString('en-US')} busiest`,
  missing: 'if there are none',
} as const

export const QUEUES_HISTORY = record(
  'QueuesHistory',
  {
    from: FROM,
    step: STEP,
    total: TOTAL,
    queues: { kind: map(HISTORY_COLUMNS), says: 'Busiest queues by their names' },
    queuesLeftOut: LEFT_OUT,
  },
  'The answer to `queues=*`.',
)

/** The same as the engine sends it: in the order of the queues. */
export const STORED_HISTORY = record('QueuesHistory', {
  from: FROM,
  step: STEP,
  total: TOTAL,
  queues: {
    kind: list(record('QueueColumns', { name: { kind: STRING, says: 'Name of the queue' }, ...HISTORY_COLUMNS.rows })),
    says: 'Busiest queues first, as many as were asked for',
  },
  queuesLeftOut: LEFT_OUT,
})

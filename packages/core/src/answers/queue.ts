/** The fields of a queue and of its keys. */
import { QUEUE_OPTIONS, type QueueSettings } from '@millrace/core'
import { RETRYING, STATE_COUNTS, TOTALS } from './counts.ts'
import { BOOLEAN, COUNT, DURATION, list, NUMBER, options, record, STRING, TIME, TRUE } from './kind.ts'

const BUCKET = record(
  'TokenBucket',
  {
    tokens: { kind: NUMBER, says: 'Tokens that are available; a job takes one to start, unless its `tokens` say more' },
    nextAt: { kind: TIME, says: 'Time at which there is one more', zero: 'if the bucket is full' },
  },
  'A token bucket.',
)

const PAUSE_END = record('PauseEnd', {
  job: { kind: STRING, says: 'Job name that is paused', missing: 'if a key is' },
  key: { kind: STRING, says: 'Concurrency key that is paused', missing: 'if a job name is' },
  until: { kind: TIME, says: 'Time at which the pause ends' },
})

/** JSON has no limit as null. */
type InJson = Omit<QueueSettings, 'defaults'> & { readonly defaults?: Readonly<Record<string, unknown>> }

const SETTINGS = options<QueueSettings, InJson>(QUEUE_OPTIONS, {
  draining: { kind: TRUE, says: 'The queue accepts no new jobs until it is resumed', missing: 'unless it drains' },
})

export const OLDEST_WAITING = {
  kind: DURATION,
  says: 'Time since the oldest waiting job became due; 0 if none waits',
} as const

export const QUEUE = record('Queue', {
  name: { kind: STRING, says: 'Name of the queue' },
  settings: { kind: SETTINGS, says: 'Settings that are in force, by the names with which they are configured' },
  paused: { kind: BOOLEAN, says: 'True if the whole queue is paused' },
  pausedUntil: { kind: TIME, says: 'Time at which the pause of the whole queue ends', missing: 'if it has no end, or there is none' },
  pausedJobs: { kind: list(STRING), says: 'Job names that are paused in the queue' },
  pausedKeys: { kind: list(STRING), says: 'Concurrency keys that are paused in the queue' },
  pauseEnds: { kind: list(PAUSE_END), says: 'Ends of the pauses of job names and keys, the next one first', missing: 'if none has an end' },
  pausedLeftOut: { kind: COUNT, says: 'Number of paused job names and keys that are not listed', missing: 'if there are none' },
  states: { kind: STATE_COUNTS, says: 'Jobs of the queue by state' },
  retrying: RETRYING,
  totals: { kind: TOTALS, says: 'Jobs of the queue since the file was created' },
  oldestWaitingMs: OLDEST_WAITING,
  sharedActive: { kind: COUNT, says: 'Jobs that run in all queues that name its `sharedLimit`', missing: 'if it has none' },
  rate: { kind: BUCKET, says: 'Token bucket of its `rateLimit`', missing: 'if it has none' },
})

export const QUEUE_KEY = record('QueueKey', {
  key: { kind: STRING, says: 'Concurrency key' },
  waiting: { kind: COUNT, says: 'Waiting jobs of the key that are counted: fewer than there are if some are only on disk' },
  active: { kind: COUNT, says: 'Jobs of the key that run' },
  paused: { kind: BOOLEAN, says: 'True if the key is paused' },
  pausedUntil: { kind: TIME, says: 'Time at which its pause ends', missing: 'if it has no end, or there is none' },
  rate: { kind: BUCKET, says: 'Token bucket of the key', missing: 'if the queue has no `perKeyRateLimit`' },
})

export const QUEUE_KEYS = record('QueueKeys', {
  keys: { kind: list(QUEUE_KEY), says: 'Keys with the most waiting jobs first, then those with the most running ones' },
  known: { kind: COUNT, says: 'Number of keys that are in memory' },
  tracked: { kind: BOOLEAN, says: 'False if the queue neither limits nor pauses keys: then none is counted' },
  partial: { kind: TRUE, says: 'There are more keys than an answer looks at', missing: 'if there are not' },
})

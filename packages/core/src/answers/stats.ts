/** The fields of the engine's statistics. */
import { type Defaults, RUN_OPTIONS } from '@millrace/core'
import { RETRYING, STATE_COUNTS, TOTALS } from './counts.ts'
import { BOOLEAN, COUNT, DURATION, list, map, NUMBER, options, record, STAMP, STRING } from './kind.ts'
import { OLDEST_WAITING } from './queue.ts'

const QUEUE_STATS = record('QueueStats', {
  ...STATE_COUNTS.rows,
  retrying: RETRYING,
  paused: { kind: BOOLEAN, says: 'True if the queue is paused' },
  oldestWaitingMs: OLDEST_WAITING,
})

const UNSERVED = record('UnservedName', {
  queue: { kind: STRING, says: 'Queue of the jobs' },
  name: { kind: STRING, says: 'Name of the jobs' },
  waiting: { kind: COUNT, says: 'Number of jobs that wait' },
})

const FAILING = record(
  'FailingName',
  {
    queue: { kind: STRING, says: 'Queue of the jobs' },
    name: { kind: STRING, says: 'Name of the jobs' },
    runs: { kind: COUNT, says: 'Runs that ended in the last 15 minutes' },
    failed: { kind: COUNT, says: 'Failed runs of the last 15 minutes' },
    failedJobs: { kind: COUNT, says: 'Jobs that failed permanently in the last 15 minutes' },
    streak: { kind: COUNT, says: 'Failed runs since the last one that completed' },
    firstAt: { kind: STAMP, says: 'Time at which it began to fail; a name that fails again within 15 minutes has not stopped' },
    lastAt: { kind: STAMP, says: 'Time of the last failed run' },
  },
  'A job name that fails: at least 10 and 5 % of its runs failed in 15 minutes, or its last 3 runs did. Counted since the engine was opened.',
)

const DEFAULTS = options<Defaults>(RUN_OPTIONS, {
  weak: { kind: BOOLEAN, says: 'True if the settings of the queue replace them', missing: 'if it is false' },
})

const DEFINITION = record('Definition', {
  name: { kind: STRING, says: 'Job name' },
  defaults: { kind: DEFAULTS, says: 'Defaults that are in force for the name' },
  worker: { kind: STRING, says: 'Id of the worker that set them' },
  host: { kind: STRING, says: 'Host of that worker' },
  saidAt: { kind: STAMP, says: 'Time at which it set them' },
  disputedBy: { kind: list(STRING), says: 'Attached workers with other defaults, which are not in force; at most 10' },
})

const PERCENTILES = {
  p50: { kind: DURATION, says: 'Median of the last 1,024 to 2,048 values' },
  p95: { kind: DURATION, says: '95th percentile of them' },
  p99: { kind: DURATION, says: '99th percentile of them' },
} as const

const TIMING = record(
  'Timing',
  {
    ...PERCENTILES,
    sum: { kind: DURATION, says: 'Sum of all values since the name is kept', missing: 'unless histograms were asked for' },
    buckets: {
      kind: list(COUNT),
      says: 'Counts of all values: place i has those up to 2^i ms that no earlier place has',
      missing: 'unless histograms were asked for',
    },
  },
  'A distribution of times. In `buckets`, place 23 has all beyond 2^22 ms, and zeros at the end are left out.',
)

const NAME = record('NameStats', {
  queue: { kind: STRING, says: 'Queue of the jobs' },
  name: { kind: STRING, says: 'Name of the jobs' },
  started: { kind: COUNT, says: 'Runs that started' },
  completed: { kind: COUNT, says: 'Runs that completed' },
  failed: { kind: COUNT, says: 'Runs that failed, those that are tried again included' },
  interrupted: { kind: COUNT, says: 'Runs that ended because their worker stopped or was lost; `failed` counts lost ones too' },
  waitMs: { kind: TIMING, says: 'Time from the due time of a job to its start' },
  runMs: { kind: TIMING, says: 'Time from the start of a run to its end' },
})

const WRITER = record('WriterStats', {
  turns: { kind: COUNT, says: 'Turns since the engine was opened' },
  turnSizeP50: { kind: NUMBER, says: 'Median of the commands in each of the last 256 turns that wrote' },
  turnSizeP99: { kind: NUMBER, says: '99th percentile of the commands in each of them' },
  commitMsP50: { kind: DURATION, says: 'Median of the times of their commits' },
  commitMsP99: { kind: DURATION, says: '99th percentile of the times of their commits' },
  reloads: { kind: COUNT, says: 'Number of times that the tables were loaded again' },
  failedTurns: { kind: COUNT, says: 'Turns that wrote nothing, or whose outcome is unknown' },
  mailboxDepth: { kind: COUNT, says: 'Commands that wait for the next turn' },
  walBytes: { kind: COUNT, says: 'Size of the write-ahead log; 0 for a database in memory' },
  journalBytes: { kind: COUNT, says: 'Size of the events that are kept' },
  draining: { kind: BOOLEAN, says: 'True if new jobs are refused, because the disk is full or the write-ahead log is too long' },
})

const STORE = record('StoreStats', {
  file: { kind: STRING, says: 'Name of the file, without its folder', missing: 'for a database in memory' },
  bytes: { kind: COUNT, says: 'Size of the database with its free pages' },
  freeBytes: { kind: COUNT, says: 'Part of `bytes` that new jobs take first' },
  walBytes: { kind: COUNT, says: 'Size of the write-ahead log' },
  diskFreeBytes: { kind: COUNT, says: 'Free space of the disk', missing: 'for a database in memory, or if it is unknown' },
  oldestEventAt: { kind: STAMP, says: 'Time of the oldest event that is kept', missing: 'if there is none' },
})

const OWNER = record('OwnerStats', {
  host: { kind: STRING, says: 'Host of the process' },
  pid: { kind: COUNT, says: 'Number of the process' },
  epoch: { kind: COUNT, says: 'Number that grows each time an engine takes the store' },
})

const leftOut = (list: string) =>
  ({ kind: COUNT, says: `Number of names that \`${list}\` leaves out`, missing: 'if there are none' }) as const

export const STATS = record('Stats', {
  states: { kind: STATE_COUNTS, says: 'Jobs by state' },
  retrying: RETRYING,
  totals: { kind: TOTALS, says: 'Jobs since the file was created' },
  queues: { kind: map(QUEUE_STATS), says: 'Queues with the most jobs that have not ended, by name; at most 1,000' },
  queuesLeftOut: { kind: COUNT, says: 'Number of queues that `queues` leaves out', missing: 'if there are none' },
  unserved: {
    kind: list(UNSERVED),
    says: 'Job names with waiting jobs that no worker serves, those with the most jobs first; at most 100',
  },
  unservedLeftOut: leftOut('unserved'),
  failing: { kind: list(FAILING), says: 'Job names that fail, those with the most permanently failed jobs first; at most 100' },
  failingLeftOut: leftOut('failing'),
  names: { kind: list(NAME), says: `Timings of the job names that ran lately, the busiest first; at most 1,000` },
  definitions: {
    kind: list(DEFINITION),
    says: 'Defaults in force for jobs that are enqueued by a plain name, disputed ones first; at most 1,000 names',
  },
  workers: { kind: COUNT, says: 'Number of attached workers' },
  paused: { kind: BOOLEAN, says: 'True if all queues are paused at once' },
  writer: { kind: WRITER, says: 'Figures about the writer' },
  store: { kind: STORE, says: 'Size of the store', missing: 'if the store does not report it' },
  owner: { kind: OWNER, says: 'Process that owns the store', missing: 'if the engine has no process of its own' },
  node: { kind: COUNT, says: 'Number of the file, which is part of every job id' },
  seq: { kind: COUNT, says: 'Last event that these numbers include; `events` continues after it' },
})

/** The fields of a job, of its runs and of their log lines. */
import { JOB_TEXTS, LIMITS, mapJobTexts, ON_PARENT_FAILURE, PAYLOADS, RUN_OPTIONS, STATES } from '@millrace/core'
import {
  BACKOFF,
  BOOLEAN,
  COUNT,
  choice,
  DATA,
  DURATION,
  ENDLESS,
  FIELDS,
  FOREVER,
  ID,
  JSON_TEXT,
  KEY,
  list,
  NUMBER,
  record,
  STRING,
  TIME,
  VALUE,
} from './kind.ts'

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const

export const LOG_LINE = record('LogLine', {
  at: { kind: TIME, says: 'Time at which the handler logged it' },
  level: { kind: choice(LOG_LEVELS), says: 'Level of the line' },
  message: { kind: STRING, says: 'Message of the line' },
  fields: { kind: FIELDS, says: 'Fields that the handler logged with the message', missing: 'if there are none' },
})

/** A line in a page of them. */
export const NUMBERED_LINE = record('NumberedLogLine', {
  ...LOG_LINE.rows,
  number: { kind: COUNT, says: 'Place among the lines of its run, from 0; a line keeps it when earlier ones are removed' },
})

export const RUN_CAUSE = record('RunCause', {
  name: { kind: STRING, says: 'Name of the cause’s class' },
  message: { kind: STRING, says: 'Message of the cause' },
  code: { kind: STRING, says: 'The cause’s own code', missing: 'if it has none' },
})

export const RUN_ERROR = record('RunError', {
  name: { kind: STRING, says: 'Name of the error’s class' },
  message: { kind: STRING, says: 'Message of the error' },
  stack: { kind: STRING, says: 'Stack of the error', missing: 'if it has none' },
  code: { kind: STRING, says: 'The error’s own code; a number as a string', missing: 'if it has none', example: 'ECONNREFUSED' },
  cause: {
    kind: list(RUN_CAUSE),
    says: 'Chain of its causes, the nearest first',
    missing: 'if it has none',
    max: LIMITS.errorCauses,
  },
})

const STARTED = { kind: TIME, says: 'Time at which the run started', zero: 'if the job ended without a run' } as const
const ENDED = { kind: TIME, says: 'Time at which the run ended', zero: 'while it continues' } as const
const WORKER = { kind: STRING, says: 'Id of the worker that had the run' } as const

export const ATTEMPT = record(
  'Attempt',
  {
    run: { kind: COUNT, says: 'Number of the run; each hand-out of the job has the next one' },
    attempt: { kind: COUNT, says: 'Number of the attempt, from 1; 0 if the job ended without a run' },
    worker: WORKER,
    startedAt: STARTED,
    endedAt: ENDED,
    error: { kind: RUN_ERROR, says: 'Error that the run failed with', missing: 'if it has not failed' },
    logs: { kind: list(LOG_LINE), says: `Newest log lines of the run, at most ${LIMITS.logLinesPerRun}` },
  },
  'A run that is active, completed or failed, or that logged before it was given back or snoozed.',
)

export const LAST_RUN = record(
  'LastRun',
  {
    run: ATTEMPT.rows.run,
    worker: WORKER,
    startedAt: STARTED,
    endedAt: ENDED,
    error: {
      kind: record('LastError', {
        name: RUN_ERROR.rows.name,
        message: { kind: STRING, says: `First ${LIMITS.lastErrorLength} characters of its message`, max: LIMITS.lastErrorLength },
      }),
      says: 'Name and message of the error that the run failed with',
      missing: 'if it has not failed',
    },
  },
  'The last run of a job, in short.',
)

export const FLOW_PLACE = record(
  'FlowPlace',
  {
    id: { kind: ID, from: 'first', says: 'Id of the flow, which is that of its first job' },
    ref: { kind: STRING, says: 'Name of the job within the flow' },
    parents: { kind: COUNT, says: 'Number of jobs that it waits for' },
    onParentFailure: { kind: choice(ON_PARENT_FAILURE), says: 'Fate of the job if one of those fails' },
  },
  'The place of a job in its flow.',
)

export const CANCELLATION = record('Cancellation', {
  reason: { kind: STRING, says: 'Reason that was given', missing: 'if none was' },
  by: {
    kind: STRING,
    says: 'Name of the token or the worker that cancelled it, or the name that the caller gave',
    missing: 'if it is unknown',
  },
})

const policy = <const Kind>(kind: Kind, name: keyof typeof RUN_OPTIONS) => ({ kind, says: RUN_OPTIONS[name].says }) as const

/** How a job runs, is retried and is kept. */
const POLICY = {
  maxAttempts: policy(COUNT, 'maxAttempts'),
  maxLost: { ...policy(COUNT, 'maxLost'), missing: 'if each lost run uses an attempt' },
  maxAge: policy(ENDLESS, 'maxAge'),
  timeout: policy(ENDLESS, 'timeout'),
  heartbeatTimeout: policy(DURATION, 'heartbeatTimeout'),
  backoff: policy(BACKOFF, 'backoff'),
  tokens: { ...policy(COUNT, 'tokens'), otherwise: 1 },
  keep: { ...policy(FOREVER, 'keep'), missing: 'if it is not set' },
  logLines: { ...policy(COUNT, 'logLines'), otherwise: LIMITS.logLinesPerRun },
} as const

/** The texts that its caller has given the job. */
const TEXTS = mapJobTexts((name) => ({ kind: STRING, says: JOB_TEXTS[name].says, nil: 'if it has none' }) as const)

const payload = <const Says extends string>(says: Says) => ({ kind: DATA, says, nil: 'if there is none' }) as const

/** The fields of a job that an engine and its clients have alike. */
export const JOB = record('Job', {
  id: { kind: KEY, says: 'Id of the job, a UUIDv7' },
  name: { kind: STRING, says: 'Name that routes the job to its handler' },
  queue: { kind: STRING, says: 'Queue of the job' },
  state: { kind: choice(STATES), says: 'State of the job' },
  data: payload('Input of the handler'),
  output: payload('Value that the handler returned when the job completed'),
  checkpoint: payload('Value that the last attempt stored for the next one'),
  run: { kind: COUNT, says: 'Number of the last run, which counts every hand-out; 0 before the first' },
  attempt: { kind: COUNT, says: 'Number of attempts so far, the current one included' },
  ...POLICY,
  priority: { kind: COUNT, says: 'Priority of the job: in a queue, jobs with a higher one start first' },
  weight: { kind: COUNT, says: 'Share of its worker’s concurrency that the job takes' },
  enqueuedAt: { kind: TIME, says: 'Time at which the job was enqueued' },
  runAt: { kind: TIME, says: 'Time at which the next run is due, or the last one was' },
  originalRunAt: {
    kind: TIME,
    says: 'Time at which the first run was due',
    missing: 'unless a retry, a snooze or a caller has moved it since',
  },
  startedAt: { kind: TIME, says: 'Time at which the last run started', zero: 'before the first run' },
  deadlineAt: {
    kind: TIME,
    says: 'Time at which the engine ends the run, unless a heartbeat extends it',
    missing: 'if the job does not run, if nothing limits the run, and in lists',
  },
  finishedAt: { kind: TIME, says: 'Time at which the job ended', zero: 'until it ends' },
  expiresAt: { kind: TIME, says: 'Time at which the job fails if it has not started', zero: 'if it has no `ttl`' },
  cancelRequested: { kind: BOOLEAN, says: 'True if the job was cancelled while it ran' },
  cancellation: {
    kind: CANCELLATION,
    says: 'Reason why the job was cancelled, or is being cancelled, and by whom',
    missing: 'if nothing is known',
  },
  lostRuns: {
    kind: COUNT,
    says: 'Number of runs that lost their worker under `maxLost`: one more than that if the last of them failed the job',
    missing: 'if it is 0',
    otherwise: 0,
  },
  tags: { kind: list(STRING), says: 'Tags of the job' },
  meta: { kind: JSON_TEXT, says: 'Metadata of the job, which handlers and callers can read', nil: 'if there is none', otherwise: {} },
  idempotencyKey: { kind: STRING, says: 'Idempotency key of the job', nil: 'if it has none' },
  uniqueKey: { kind: STRING, says: 'Unique key that the job holds', nil: 'if it has none' },
  ...TEXTS,
  flow: { kind: FLOW_PLACE, says: 'Place of the job in its flow', nil: 'if it is in none' },
  attempts: { kind: list(ATTEMPT), says: 'Runs of the job, the oldest first; empty in lists' },
  lastRun: {
    kind: LAST_RUN,
    says: 'Last run of the job',
    nil: 'if no run is known',
    missing: 'unless a list was asked for it',
  },
})

/** The same with what only the engine's answer has. */
export const STORED_JOB = record('Job', {
  ...JOB.rows,
  progress: {
    kind: STRING,
    says: 'Last progress that was reported, as a JSON array: a fraction from 0 to 1, a note or null, the JSON of a value',
    nil: 'if there was none',
  },
  bytes: {
    kind: record('PayloadSizes', {
      data: { kind: COUNT, says: 'Stored size of `data`', nil: 'if there is none' },
      output: { kind: COUNT, says: 'Stored size of `output`', nil: 'if there is none' },
      checkpoint: { kind: COUNT, says: 'Stored size of `checkpoint`', nil: 'if there is none' },
    }),
    says: 'Stored sizes of the payloads, in bytes',
    missing: 'unless the question limits payloads',
  },
})

const PROGRESS = {
  progress: { kind: NUMBER, says: 'Last progress that was reported, from 0 to 1', missing: 'if none was' },
  progressNote: { kind: STRING, says: 'Note of the last report of progress', missing: 'if it had none' },
  progressValue: { kind: VALUE, says: 'JSON value of the last report of progress', missing: 'if it had none' },
} as const

/** The fields that clients add when they decode the payloads and the progress. */
export const DECODED = record('Job', {
  ...PROGRESS,
  undecoded: {
    kind: list(choice(PAYLOADS)),
    says: 'Payloads that could not be decoded, and are shown as they are stored',
    missing: 'if all could',
  },
})

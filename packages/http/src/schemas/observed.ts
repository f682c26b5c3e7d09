/** Schemas of the data that the engine reports about itself. */
import { z } from '@hono/zod-openapi'
import {
  DEFINITION_DETAILS,
  describe,
  EVENT_TYPES,
  FAILURES_ORDERS,
  FAILURES_TRENDS,
  HISTORY_STEPS,
  JOB_EVENT_TYPES,
  LIMITS,
  MISS_REASONS,
  NAME_DETAILS,
  QUEUE_ORDERS,
  SYSTEM_EVENT_TYPES,
  WORKER_KINDS,
} from '@millrace/core'
import { DURATION, NAME, RETRYING, STATE_COUNTS, TIME, TOTALS, WHEN, whole } from './plain.ts'

export const STATS_QUERY = z.strictObject({
  names: z
    .enum(NAME_DETAILS)
    .optional()
    .openapi({ description: 'How much `names` has of each job name: `histograms` (and percentiles; default), `percentiles`, or `none`.' }),
  definitions: z.enum(DEFINITION_DETAILS).optional().openapi({ description: 'Which `definitions` are returned; default `all`.' }),
})

const TIMING = z
  .strictObject({
    p50: z.number(),
    p95: z.number(),
    p99: z.number(),
    sum: z.number().optional(),
    buckets: z.array(z.number()).optional(),
  })
  .openapi('Timing', {
    description:
      'In milliseconds; `sum` and `buckets` only with histograms. `buckets[i]` counts what took more than half of 2^i ms and up to 2^i ms, [0] up to 1 ms and [23] all beyond; zeros at the end are left out.',
  })

export const STATS = z
  .strictObject({
    seq: z.number().openapi({
      description: 'The last event that these numbers include: `/v1/events?after=` continues from here. 0 if the engine does not say it.',
    }),
    node: z.number().openapi({ description: 'The number of the file, which is part of every job id; 0 if the engine does not say it.' }),
    paused: z.boolean(),
    states: STATE_COUNTS,
    retrying: RETRYING,
    totals: TOTALS,
    queues: z.record(z.string(), STATE_COUNTS.extend({ retrying: RETRYING, paused: z.boolean(), oldestWaitingMs: z.number() })).openapi({
      description: 'The queues with the most jobs that have not ended; 1,000 at most.',
    }),
    queuesLeftOut: z.number().optional().openapi({ description: 'The number of queues that `queues` leaves out.' }),
    definitions: z
      .array(
        z.strictObject({
          name: z.string(),
          defaults: z.record(z.string(), z.unknown()),
          worker: z.string(),
          host: z.string(),
          saidAt: z.number(),
          disputedBy: z.array(z.string()),
        }),
      )
      .openapi({
        description:
          'The defaults in force for jobs that are enqueued by a plain name, and the worker that set them; 1,000 names at most, disputed ones first.',
      }),
    unserved: z.array(z.strictObject({ queue: z.string(), name: z.string(), waiting: z.number() })).openapi({
      description: 'Job names with waiting jobs that no worker serves, those with the most jobs first; 100 at most.',
    }),
    unservedLeftOut: z.number().optional().openapi({ description: 'The number of names that `unserved` leaves out.' }),
    failing: z
      .array(
        z.strictObject({
          queue: z.string(),
          name: z.string(),
          runs: z.number(),
          failed: z.number(),
          failedJobs: z.number(),
          streak: z.number(),
          firstAt: z.number(),
          lastAt: z.number(),
        }),
      )
      .openapi({
        description:
          'Job names that fail: at least 10 and 5 % of their runs failed in 15 minutes, or their last 3 runs did; 100 at most, those with the most permanently failed jobs first. `runs`, `failed` (runs) and `failedJobs` count the 15 minutes, `streak` the failed runs since one completed; `firstAt` (when it began: the first of its last failed runs in a row, or the run that made them too many; a name that fails again within 15 minutes has not stopped) and `lastAt` (its last failed run) are in milliseconds since 1970. Counted since the engine was opened.',
      }),
    failingLeftOut: z.number().optional().openapi({ description: 'The number of names that `failing` leaves out.' }),
    names: z.array(
      z.strictObject({
        queue: z.string(),
        name: z.string(),
        started: z.number(),
        completed: z.number(),
        failed: z.number(),
        interrupted: z.number().openapi({
          description:
            'Runs that ended because their worker stopped or was lost; lost ones are among `failed`, too. Absent if the engine does not say it.',
        }),
        waitMs: TIMING,
        runMs: TIMING,
      }),
    ),
    workers: z.number(),
    writer: z.strictObject({
      turns: z.number(),
      turnSizeP50: z.number(),
      turnSizeP99: z.number(),
      commitMsP50: z.number(),
      commitMsP99: z.number(),
      reloads: z.number(),
      failedTurns: z.number(),
      mailboxDepth: z.number(),
      walBytes: z.number(),
      journalBytes: z.number(),
      draining: z.boolean(),
    }),
    store: z
      .strictObject({
        file: z.string().optional().openapi({ description: 'Its name, without the folder; absent for a database in memory.' }),
        bytes: z.number().openapi({ description: 'The size of the database with its free pages.' }),
        freeBytes: z.number().openapi({ description: 'The part of `bytes` that new jobs take first.' }),
        walBytes: z.number(),
        diskFreeBytes: z.number().optional().openapi({ description: 'The free space of the disk; absent for a database in memory.' }),
        oldestEventAt: z.number().optional().openapi({
          description: 'When the oldest event that is kept happened, in milliseconds since 1970; absent if there is none.',
        }),
      })
      .optional()
      .openapi({ description: 'The storage; absent if the engine does not say it.' }),
    owner: z
      .strictObject({
        host: z.string(),
        pid: z.number(),
        epoch: z.number().openapi({ description: 'A number that grows each time an engine takes the store.' }),
      })
      .optional()
      .openapi({ description: 'The process that owns the store; absent if the engine does not say it.' }),
    schedules: z.strictObject({ enabled: z.number(), paused: z.number(), failing: z.number(), complete: z.boolean() }).openapi({
      description:
        'Counts of at most 2,000 schedules; `complete` is false if there are more. `failing`: enabled ones whose last job has failed.',
    }),
    version: z.string().optional().openapi({ description: 'The version of the program that serves the API, if it says one.' }),
    uptimeMs: z.number().openapi({ description: 'The time since the API was built.' }),
  })
  .openapi('Stats')

export const WORKERS = z
  .strictObject({
    workers: z.array(
      z.strictObject({
        id: z.string(),
        host: z.string(),
        pid: z.number(),
        names: z.array(z.string()),
        queues: z.array(z.string()).nullable(),
        order: z.enum(QUEUE_ORDERS).optional().openapi({
          description: 'The order in which it serves `queues`: in turns, or an earlier one first. Absent if the engine does not say it.',
        }),
        minConcurrency: z.number(),
        maxConcurrency: z.number(),
        runningJobs: z.number(),
        runningWeight: z.number(),
        nextDeadlineAt: WHEN.optional().openapi({ description: 'The earliest deadline of its running jobs. Absent if none has one.' }),
        zombies: z.number(),
        draining: z.boolean(),
        paused: z.boolean().optional().openapi({
          description: 'Takes no jobs until it resumes; running jobs continue. Absent if the engine does not say it.',
        }),
        away: z.boolean(),
        attachedAt: WHEN.optional().openapi({
          description: 'Set again after each break; absent until it is back at an engine that was opened since.',
        }),
        lastSeenAt: WHEN.optional().openapi({
          description: 'When the engine last heard that it lives: at most 15 s ago if all is well.',
        }),
        kind: z.enum(WORKER_KINDS).optional().openapi({
          description:
            'The place in which its handlers run: `inline` in the engine’s own process, `threads` on a pool of threads, `processes` on a pool of child processes, `remote` in another process, `foreign` in a client of another library. Absent if the engine does not say it.',
        }),
        version: z.string().optional().openapi({
          description: 'The version of Millrace that its process runs; for a foreign client, the name and version that it gives.',
        }),
        eventLoopDelayMs: z.number().optional().openapi({
          description: '99th percentile of the delay of its event loop since its last report, 5 to 15 s ago. Absent if it reports none.',
        }),
        rssBytes: z.number().optional().openapi({ description: 'Memory that its process occupies, of the same report.' }),
      }),
    ),
  })
  .openapi('Workers')

export const WORKER_PATH = z.strictObject({ id: NAME.openapi({ param: { name: 'id', in: 'path' } }) })

export const STOP_WORKER = z
  .strictObject({ timeout: DURATION.nullable().optional().openapi({ description: 'null: as long as it takes.' }) })
  .openapi('StopWorker')

export const HISTORY_QUERY = z.strictObject({
  queue: NAME.optional().openapi({ description: 'Default `default`: one queue, not the sum of all.' }),
  queues: z.literal('*').optional().openapi({ description: 'In place of `queue`: all queues, in columns.' }),
  limit: whole(0, LIMITS.historyQueues)
    .optional()
    .openapi({ description: `Of \`queues\`: the number of queues to return one by one, the busiest; default ${LIMITS.historyQueues}.` }),
  step: z.enum(HISTORY_STEPS).optional(),
  from: TIME.optional(),
  to: TIME.optional(),
})

const POINTS = z.strictObject({ points: z.array(TOTALS.extend({ at: WHEN })) }).openapi('History')

const COUNTS = z.array(z.number())
const COLUMNS = z
  .strictObject({ enqueued: COUNTS, completed: COUNTS, failed: COUNTS, cancelled: COUNTS })
  .openapi('HistoryColumns', { description: 'Arrays of one length: place i is the minute or hour that begins i steps after `from`.' })

const QUEUES_HISTORY = z
  .strictObject({
    from: WHEN,
    step: z.enum(HISTORY_STEPS),
    total: COLUMNS.openapi({ description: 'The sum of all queues.' }),
    queues: z.record(z.string(), COLUMNS).openapi({ description: 'The busiest, by their names.' }),
    queuesLeftOut: z
      .number()
      .optional()
      .openapi({ description: `How many queues \`total\` leaves out: it counts the ${LIMITS.historySummed} busiest.` }),
  })
  .openapi('QueuesHistory', { description: 'The answer to `queues=*`.' })

export const HISTORY = z.union([POINTS, QUEUES_HISTORY])

export const FAILURES_QUERY = z.strictObject({
  queue: NAME.optional(),
  name: NAME.optional(),
  limit: whole(1, LIMITS.pageFailures).optional(),
  order: z
    .enum(FAILURES_ORDERS)
    .optional()
    .openapi({ description: '`last` (the default): the kinds seen last first. `count`: those with the most failed runs first.' }),
  trend: z
    .enum(FAILURES_TRENDS)
    .optional()
    .openapi({ description: '`hour`: with the failed runs of each kind in each of the last 24 hours.' }),
})

export const FAILURES = z
  .strictObject({
    failures: z.array(
      z.strictObject({
        fingerprint: z.string(),
        queue: z.string(),
        name: z.string(),
        error: z.string(),
        count: z.number(),
        firstAt: WHEN,
        lastAt: WHEN,
        jobId: z.string().optional(),
        message: z.string().optional(),
        trend: COUNTS.optional().openapi({
          description: 'With `trend=hour`: failed runs in each of the last 24 hours, oldest first; the last place is the current hour.',
        }),
      }),
    ),
  })
  .openapi('Failures')

const ANY = EVENT_TYPES.join('|').replaceAll('.', '[.]')
const TYPES = new RegExp(`^(?:${ANY})(?:,(?:${ANY}))*$`)

export const EVENTS_QUERY = z.strictObject({
  after: z
    .union([z.literal('now'), whole(0, Number.MAX_SAFE_INTEGER)], {
      error: (issue) => `must be the id of an event, 0 or more, or 'now', got ${describe(issue.input)}`,
    })
    .optional()
    .openapi({
      description:
        'The `id` of the last event that is known, or `now` for those that come; 0 (default) begins with the oldest that is kept.',
    }),
  types: z
    .string()
    .regex(TYPES, `some of ${EVENT_TYPES.join(',')}`)
    .optional()
    .openapi({ description: 'With commas in between.', example: 'completed,failed' }),
  queue: NAME.optional(),
  name: NAME.optional(),
  jobId: z.string().max(128).optional(),
})

const JOB_EVENT = z
  .strictObject({
    seq: z.number(),
    type: z.enum(JOB_EVENT_TYPES),
    jobId: z.string(),
    queue: z.string(),
    name: z.string(),
    at: WHEN,
    run: z.number(),
    attempt: z.number(),
    error: z.string().optional().openapi({ description: 'With `failed` and `retrying`: the name of the error.' }),
    progress: z.number().optional().openapi({ description: 'With `progress`: 0 to 1.' }),
    runAt: WHEN.optional().openapi({ description: 'The time at which the job is due, if it is due later.' }),
  })
  .openapi('JobEvent')

const QUEUE_EVENT = z
  .strictObject({
    seq: z.number(),
    type: z.enum(SYSTEM_EVENT_TYPES.filter((type) => type.startsWith('queue.'))),
    at: WHEN,
    queue: z.string(),
    name: z.string().optional().openapi({ description: 'With `queue.paused` and `queue.resumed`: only jobs of this name.' }),
    key: z.string().optional().openapi({ description: 'The same: only jobs with this concurrency key.' }),
  })
  .openapi('QueueEvent')

const SCHEDULE_EVENT = z
  .strictObject({
    seq: z.number(),
    type: z.enum(SYSTEM_EVENT_TYPES.filter((type) => type.startsWith('schedule.'))),
    at: WHEN,
    schedule: z.string(),
    tick: WHEN.optional().openapi({ description: 'Of `schedule.fired` and `schedule.skipped`.' }),
    jobId: z.string().optional().openapi({ description: 'Of `schedule.fired` and `schedule.triggered`.' }),
    reason: z.enum(MISS_REASONS).optional().openapi({ description: 'Of `schedule.skipped`.' }),
  })
  .openapi('ScheduleEvent')

const WORKER_EVENT = z
  .strictObject({
    seq: z.number(),
    type: z.enum(SYSTEM_EVENT_TYPES.filter((type) => type.startsWith('worker.'))),
    at: WHEN,
    worker: z.string(),
    session: z.string(),
  })
  .openapi('WorkerEvent')

const ENGINE_EVENT = z
  .strictObject({ seq: z.number(), type: z.enum(SYSTEM_EVENT_TYPES.filter((type) => type.startsWith('engine.'))), at: WHEN })
  .openapi('EngineEvent')

const GAP = z
  .strictObject({ type: z.literal('gap'), after: z.number(), resumesAt: z.number() })
  .openapi('EventsGap', { description: 'Events behind `after` and before `resumesAt` are not kept any more.' })

/** The `data` of each event of the stream. */
export const EVENT_DATA = z.union([JOB_EVENT, QUEUE_EVENT, SCHEDULE_EVENT, WORKER_EVENT, ENGINE_EVENT, GAP])

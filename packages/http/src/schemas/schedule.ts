/** Schemas of schedules, flat as `schedules.get` returns them: the times, and the job. */
import { z } from '@hono/zod-openapi'
import type { Schedule } from '@millrace/client'
import { CATCH_UPS, LIMITS, OVERLAPS } from '@millrace/core'
import { base64, binaryOf } from '../binary.ts'
import type { Redaction } from '../redaction.ts'
import { REDACTED_SHOWN } from './job.ts'
import { SCHEDULED_OPTIONS } from './options.ts'
import { CURSOR, DURATION, NAME, RUN_ERROR, STATE, TIME, WHEN, whole } from './plain.ts'

export const SCHEDULE_PATH = z.strictObject({ id: NAME.openapi({ param: { name: 'id', in: 'path' } }) })

const MAX_RUNS = z.int().min(1).max(LIMITS.runsPerSchedule)

const TIMES = {
  cron: z.string().min(1).max(LIMITS.cronLength).optional().openapi({ example: '0 3 * * *' }),
  every: DURATION.optional(),
  timezone: z.string().max(128).optional().openapi({ example: 'Europe/Berlin' }),
  startAt: TIME.optional(),
  endAt: TIME.optional(),
  jitter: DURATION.optional(),
  overlap: z.enum(OVERLAPS as ['skip', 'queue', 'cancel', 'allow']).optional(),
  catchUp: z.enum(CATCH_UPS as ['latest', 'all', 'none']).optional(),
  catchUpWithin: DURATION.optional().openapi({ description: 'The longest that a tick may be late. Default: no bound.' }),
  maxRuns: MAX_RUNS.optional().openapi({ description: 'The schedule ends after this many jobs. Default: no end.' }),
  paused: z.boolean().optional().openapi({ description: 'No tick fires until it is resumed. Default: as it is; a new one is not paused.' }),
  updateWaiting: z.boolean().optional().openapi({
    description: 'True: its last job, if it has never run and has the same name, takes the data, priority, weight, tags and meta.',
  }),
}

const PUT = {
  ...TIMES,
  runImmediately: z.boolean().optional(),
  job: NAME,
  data: z.unknown().optional(),
  binary: binaryOf('data'),
  options: SCHEDULED_OPTIONS.optional(),
}

export const NEW_SCHEDULE = z.strictObject(PUT).openapi('NewSchedule', { description: 'One of `cron` and `every`.' })

export const ADDED_SCHEDULE = z.strictObject({ id: NAME, ...PUT }).openapi('AddedSchedule', { description: 'One of `cron` and `every`.' })

export const SCHEDULE_CHANGES = z
  .strictObject({
    ...TIMES,
    startAt: TIME.nullable().optional(),
    endAt: TIME.nullable().optional(),
    catchUpWithin: DURATION.nullable().optional(),
    maxRuns: MAX_RUNS.nullable().optional(),
    job: NAME.optional(),
    data: z.unknown().optional(),
    binary: binaryOf('data'),
    options: SCHEDULED_OPTIONS.optional().openapi({ description: 'In place of all options that its job had.' }),
  })
  .openapi('ScheduleChanges', {
    description:
      'A field that is left out stays as it is; null removes `startAt`, `endAt`, `catchUpWithin` or `maxRuns`. `cron` takes the place of `every`, and `every` that of `cron`.',
  })

export const SCHEDULED = z
  .strictObject({
    id: z.string(),
    created: z.boolean(),
    nextRunAt: WHEN.optional(),
    waitingUpdated: z.number().optional().openapi({ description: 'With `updateWaiting`: how many jobs were changed.' }),
  })
  .openapi('Scheduled')

export const SCHEDULE = z
  .strictObject({
    id: z.string(),
    cron: z.string().optional(),
    timezone: z.string().optional(),
    every: z.number().optional(),
    startAt: WHEN.optional(),
    endAt: WHEN.optional(),
    jitter: z.number(),
    overlap: z.string(),
    catchUp: z.string(),
    catchUpWithin: z.number().optional(),
    maxRuns: z.number().optional(),
    job: z.string(),
    data: z.unknown().optional().openapi({ description: 'Not in lists.' }),
    binary: z.array(z.literal('data')).optional().openapi({ description: 'Given if `data` is bytes, shown as base64.' }),
    options: z.record(z.string(), z.unknown()),
    redacted: REDACTED_SHOWN,
    paused: z.boolean(),
    nextRunAt: WHEN.optional(),
    nextRuns: z.array(WHEN),
    lastRunAt: WHEN.optional(),
    lastJobId: z.string().optional(),
    lastResult: z
      .strictObject({
        state: STATE,
        output: z.unknown().optional().openapi({ description: 'Not in lists.' }),
        binary: z.literal(true).optional().openapi({ description: '`output` is bytes, shown as base64.' }),
        error: RUN_ERROR.optional(),
      })
      .optional(),
    runs: z.number(),
    skipped: z.number(),
    createdAt: WHEN,
    updatedAt: WHEN,
  })
  .openapi('Schedule')

/** Returns the schedule without what `redact` hides, and with bytes as base64. */
export function shownSchedule(found: Schedule, redaction: Redaction): unknown {
  const schedule = redaction.schedule(found)
  const { data, lastResult } = schedule
  const output = lastResult?.output
  return {
    ...schedule,
    ...(data instanceof Uint8Array && { data: base64(data), binary: ['data'] }),
    ...(output instanceof Uint8Array && { lastResult: { ...lastResult, output: base64(output), binary: true } }),
  }
}

export const SCHEDULE_PAGE = z.strictObject({ schedules: z.array(SCHEDULE), next: z.string().optional() }).openapi('SchedulePage')

export const SCHEDULE_LIST_QUERY = z.strictObject({
  prefix: NAME.optional(),
  queue: NAME.optional().openapi({ description: 'Schedules whose jobs go to this queue. A page may be short and have a `next`.' }),
  name: NAME.optional().openapi({ description: 'Schedules whose jobs have this name. A page may be short and have a `next`.' }),
  after: CURSOR.optional(),
  limit: whole(1, LIMITS.pageSchedules).optional(),
})

export const SCHEDULE_QUERY = z.strictObject({
  times: whole(0, LIMITS.timesPerSchedule).optional().openapi({ description: 'How many of the times that come next to tell; default 1.' }),
})

/** Schemas of schedules, flat as `schedules.get` returns them: the times, and the job. */
import { z } from '@hono/zod-openapi'
import type { Schedule } from '@millrace/client'
import { type Kind, LIMITS, SCHEDULE_OPTIONS, type ScheduleRow, type ValueOf, withoutPresets } from '@millrace/core'
import { SCHEDULE_RESULT, SCHEDULE as SCHEDULE_ROWS, SCHEDULE_SET } from '@millrace/core/answers'
import { base64, binaryOf } from '../binary.ts'
import type { Redaction } from '../redaction.ts'
import { shapeOf } from './answer.ts'
import { REDACTED_SHOWN } from './job.ts'
import { givenOf, schemasOf, shownOf } from './kind.ts'
import { SCHEDULED_OPTIONS } from './options.ts'
import { CURSOR, NAME, whole } from './plain.ts'

export const SCHEDULE_PATH = z.strictObject({ id: NAME.openapi({ param: { name: 'id', in: 'path' } }) })

const { runImmediately: _once, ...CHANGEABLE } = SCHEDULE_OPTIONS
const { paused: _paused, updateWaiting: _updateWaiting, ...SPEC } = CHANGEABLE

type Rows = Readonly<Record<string, ScheduleRow>>

/** A value in JSON: times are ISO 8601. */
type InJson<Of extends Kind> = Of extends { readonly type: 'time' } ? string : ValueOf<Of>

type Shown<Of extends Rows> = { readonly [Name in keyof Of]: z.ZodOptional<z.ZodType<InJson<Of[Name]['kind']>>> }

/** The API itself reads the times alone. */
type Given<Of extends Rows, Empty> = {
  readonly [Name in keyof Of]: z.ZodOptional<z.ZodType<Of[Name]['kind']['type'] extends 'time' ? string | Empty : unknown>>
}

const GIVEN = schemasOf(SCHEDULE_OPTIONS, givenOf) as unknown as Given<typeof SCHEDULE_OPTIONS, never>
const CHANGES = schemasOf<ScheduleRow>(withoutPresets<ScheduleRow>(CHANGEABLE), (kind, { removable }) =>
  removable ? givenOf(kind).nullable() : givenOf(kind),
) as unknown as Given<typeof CHANGEABLE, null>
const SHOWN = schemasOf(withoutPresets<ScheduleRow>(SPEC), shownOf) as unknown as Shown<typeof SPEC>

const PUT = {
  ...GIVEN,
  job: NAME,
  data: z.unknown().optional(),
  binary: binaryOf('data'),
  options: SCHEDULED_OPTIONS.optional(),
}

export const NEW_SCHEDULE = z.strictObject(PUT).openapi('NewSchedule', { description: 'One of `cron` and `every`.' })

export const ADDED_SCHEDULE = z.strictObject({ id: NAME, ...PUT }).openapi('AddedSchedule', { description: 'One of `cron` and `every`.' })

export const SCHEDULE_CHANGES = z
  .strictObject({
    ...CHANGES,
    job: NAME.optional(),
    data: z.unknown().optional(),
    binary: binaryOf('data'),
    options: SCHEDULED_OPTIONS.optional().openapi({ description: 'In place of all options that its job had.' }),
  })
  .openapi('ScheduleChanges', {
    description:
      'A field that is left out stays as it is; null removes `startAt`, `endAt`, `catchUpWithin` or `maxRuns`. `cron` takes the place of `every`, and `every` that of `cron`.',
  })

export const SCHEDULED = z.strictObject({ id: z.string(), ...shapeOf(SCHEDULE_SET.rows) }).openapi('Scheduled')

export const SCHEDULE = z
  .strictObject({
    ...SHOWN,
    jitter: SHOWN.jitter.unwrap(),
    overlap: SHOWN.overlap.unwrap(),
    catchUp: SHOWN.catchUp.unwrap(),
    ...shapeOf(SCHEDULE_ROWS.rows),
    job: z.string().openapi({ description: 'Name of its jobs.' }),
    data: z.unknown().optional().openapi({ description: 'Data of its jobs. Absent in lists.' }),
    binary: z.array(z.literal('data')).optional().openapi({ description: 'Given if `data` is bytes, shown as base64.' }),
    options: z.record(z.string(), z.unknown()).openapi({ description: 'Options of its jobs. Durations are in milliseconds.' }),
    redacted: REDACTED_SHOWN,
    lastResult: z
      .strictObject({
        ...shapeOf(SCHEDULE_RESULT.rows),
        binary: z.literal(true).optional().openapi({ description: '`output` is bytes, shown as base64.' }),
      })
      .optional(),
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

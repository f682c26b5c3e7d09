/** Recurring jobs. */
import type { z } from '@hono/zod-openapi'
import type { ScheduleChanges, ScheduledJob } from '@millrace/client'
import { ScheduleNotFoundError, type ScheduleOptions } from '@millrace/core'
import { json, noContent } from '../answer.ts'
import { withBytes } from '../binary.ts'
import { type Operation, operation, type Service } from '../operation.ts'
import { ENQUEUED } from '../schemas/job.ts'
import { enqueueOptions, TRIGGER } from '../schemas/options.ts'
import {
  ADDED_SCHEDULE,
  NEW_SCHEDULE,
  SCHEDULE,
  SCHEDULE_CHANGES,
  SCHEDULE_LIST_QUERY,
  SCHEDULE_PAGE,
  SCHEDULE_PATH,
  SCHEDULE_QUERY,
  SCHEDULED,
  shownSchedule,
} from '../schemas/schedule.ts'

export function scheduleRoutes({ engine: { schedules }, settings, cursors, redaction }: Service): readonly Operation[] {
  const simply = (word: 'pause' | 'resume', summary: string): Operation =>
    operation({
      id: `${word}Schedule`,
      method: 'post',
      path: `/v1/schedules/{id}/${word}`,
      tag: 'schedules',
      scope: 'admin',
      summary,
      params: SCHEDULE_PATH,
      responses: { 204: { description: 'It is so from now on' } },
      refusals: [404],
      async handle({ params: { id } }) {
        await schedules[word](id)
        return noContent()
      },
    })
  const locationOf = (id: string) => ({ location: `${settings.basePath}/v1/schedules/${encodeURIComponent(id)}` })
  return [
    operation({
      id: 'listSchedules',
      method: 'get',
      path: '/v1/schedules',
      tag: 'schedules',
      scope: 'read',
      summary: 'A page of schedules, in the order of their ids',
      query: SCHEDULE_LIST_QUERY,
      responses: { 200: { description: 'The page', schema: SCHEDULE_PAGE } },
      async handle({ query: { prefix, queue, name, after: cursor, limit } }) {
        const after = cursors.open('schedules', cursor)
        const page = await schedules.list({
          ...(prefix !== undefined && { prefix }),
          ...(queue !== undefined && { queue }),
          ...(name !== undefined && { name }),
          ...(after !== undefined && { after }),
          ...(limit !== undefined && { limit }),
        })
        return json(200, {
          schedules: page.schedules.map((each) => shownSchedule(each, redaction)),
          next: cursors.sign('schedules', page.next),
        })
      },
    }),

    operation({
      id: 'getSchedule',
      method: 'get',
      path: '/v1/schedules/{id}',
      tag: 'schedules',
      scope: 'read',
      summary: 'A schedule, with when it runs next and how its last job ended',
      params: SCHEDULE_PATH,
      query: SCHEDULE_QUERY,
      responses: { 200: { description: 'The schedule', schema: SCHEDULE } },
      refusals: [404],
      async handle({ params: { id }, query: { times } }) {
        const schedule = await schedules.get(id, times === undefined ? undefined : { times })
        if (schedule === undefined) throw new ScheduleNotFoundError(`there is no schedule '${id}'`, { scheduleId: id })
        return json(200, shownSchedule(schedule, redaction))
      },
    }),

    operation({
      id: 'putSchedule',
      method: 'put',
      path: '/v1/schedules/{id}',
      tag: 'schedules',
      scope: 'admin',
      summary: 'Create a schedule, or change it: one whose ticks are as before keeps its next',
      params: SCHEDULE_PATH,
      body: NEW_SCHEDULE,
      responses: {
        201: { description: 'It is created', schema: SCHEDULED },
        200: { description: 'It is changed', schema: SCHEDULED },
      },
      target: ({ cron, every, job }) => ({ cron, every, job }),
      async handle({ params: { id }, body }) {
        const { spec, job } = wantedOf(body)
        const set = await schedules.upsert(id, spec, job)
        return json(set.created ? 201 : 200, set, set.created ? locationOf(id) : undefined)
      },
    }),

    operation({
      id: 'addSchedule',
      method: 'post',
      path: '/v1/schedules',
      tag: 'schedules',
      scope: 'admin',
      summary: 'Create a schedule; one that is there is refused, and stays as it is',
      body: ADDED_SCHEDULE,
      responses: { 201: { description: 'It is created', schema: SCHEDULED } },
      refusals: [409],
      target: ({ id, cron, every, job }) => ({ id, cron, every, job }),
      async handle({ body: { id, ...body } }) {
        const { spec, job } = wantedOf(body)
        return json(201, await schedules.add(id, spec, job), locationOf(id))
      },
    }),

    operation({
      id: 'updateSchedule',
      method: 'patch',
      path: '/v1/schedules/{id}',
      tag: 'schedules',
      scope: 'admin',
      summary: 'Change single fields of a schedule, and keep the others',
      params: SCHEDULE_PATH,
      body: SCHEDULE_CHANGES,
      responses: { 200: { description: 'It is changed', schema: SCHEDULED } },
      refusals: [404, 409],
      target: ({ cron, every, paused, job }) => ({ cron, every, paused, job }),
      async handle({ params: { id }, body: { options: read, startAt, endAt, ...changes } }) {
        const options = enqueueOptions(read)
        const told = { ...withBytes(changes), ...dates({ startAt, endAt }), ...(options !== undefined && { options }) } as ScheduleChanges
        return json(200, await schedules.update(id, told))
      },
    }),

    operation({
      id: 'deleteSchedule',
      method: 'delete',
      path: '/v1/schedules/{id}',
      tag: 'schedules',
      scope: 'admin',
      summary: 'Remove a schedule, and its job where that has not started',
      params: SCHEDULE_PATH,
      responses: { 204: { description: 'It is gone' } },
      refusals: [404],
      async handle({ params: { id } }) {
        await schedules.delete(id)
        return noContent()
      },
    }),

    simply('pause', 'Fire no tick until it is resumed'),
    simply('resume', 'Continue with the first tick from now'),

    operation({
      id: 'triggerSchedule',
      method: 'post',
      path: '/v1/schedules/{id}/trigger',
      tag: 'schedules',
      scope: 'admin',
      summary: 'Its job now, beside its ticks',
      description: '`meta` is put over that of the schedule, for this job alone.',
      params: SCHEDULE_PATH,
      body: TRIGGER,
      bodyOptional: true,
      responses: {
        201: { description: 'The job', schema: ENQUEUED },
        200: { description: 'The last one is not final, and is the answer', schema: ENQUEUED },
      },
      refusals: [404],
      async handle({ params, body: { meta } }) {
        const { id, created } = await schedules.trigger(params.id, meta === undefined ? undefined : { meta })
        return json(created ? 201 : 200, { id, created })
      },
    }),
  ]
}

function wantedOf(body: Omit<z.output<typeof ADDED_SCHEDULE>, 'id'>): {
  readonly spec: ScheduleOptions
  readonly job: ScheduledJob
} {
  const { job, data, options: read, startAt, endAt, ...when } = withBytes(body)
  const options = enqueueOptions(read)
  return {
    spec: { ...when, ...dates({ startAt, endAt }) } as ScheduleOptions,
    job: { job, data, ...(options !== undefined && { options }) } as ScheduledJob,
  }
}

/** Turns times into dates. Null, which removes a bound, stays null. */
function dates(times: Readonly<Record<string, string | number | null | undefined>>): Record<string, Date | null> {
  const told = Object.entries(times).filter((entry): entry is [string, string | number | null] => entry[1] !== undefined)
  return Object.fromEntries(told.map(([name, at]) => [name, at === null ? null : new Date(at)]))
}

/** Jobs, one at a time. */

import { z } from '@hono/zod-openapi'
import type { JobHandle, JobMessage, JobPage, JobStep } from '@millrace/client'
import {
  type CancelOptions,
  endlessOf,
  formatCursor,
  type GetOptions,
  JobNotFoundError,
  type ListOptions,
  type LogsOptions,
  parseId,
  type RetryOptions,
  rowOfShortId,
  type StepsOptions,
  shortened,
  type UpdateOptions,
} from '@millrace/core'
import { namedBy } from '../access/caller.ts'
import { json, noContent } from '../answer.ts'
import { withBytes } from '../binary.ts'
import { invalid } from '../errors.ts'
import { type Operation, operation, type Service } from '../operation.ts'
import {
  CANCEL,
  ENQUEUED,
  ENQUEUED_MANY,
  EXPLANATION,
  GET_QUERY,
  IDEMPOTENCY_HEADER,
  JOB,
  JOB_CHANGES,
  JOB_LOGS,
  JOB_PAGE,
  JOB_PATH,
  JOB_QUERY,
  JOB_STEPS,
  LOGS_QUERY,
  MANY_KEYS_HEADER,
  NEW_JOB,
  NEW_JOBS,
  RETRY,
  STEPS_QUERY,
  shownJob,
  shownStep,
} from '../schemas/job.ts'
import { enqueueOptions } from '../schemas/options.ts'
import { Together } from '../together.ts'

export function jobRoutes({ engine, settings, cursors, redaction }: Service): readonly Operation[] {
  const together = new Together()
  return [
    operation({
      id: 'enqueue',
      method: 'post',
      path: '/v1/jobs',
      tag: 'jobs',
      scope: 'enqueue',
      summary: 'Create a job',
      headers: IDEMPOTENCY_HEADER,
      body: NEW_JOB,
      responses: {
        201: { description: 'It is created, and stored', schema: ENQUEUED },
        200: { description: 'A key matched an earlier job', schema: ENQUEUED },
      },
      refusals: [409],
      async handle({ body, request, caller }) {
        const options = enqueueOptions(withKey(body.options, request))
        const { job: name, data } = withBytes(body)
        await together.join()
        const handle = await engine.enqueue(name, data, options)
        if (handle.created) return json(201, { id: handle.id, created: true }, { location: `${settings.basePath}/v1/jobs/${handle.id}` })
        // A producer may use the key of another one, whose data it must not see.
        const job = caller.scopes.includes('read') ? await engine.get(handle.id) : undefined
        return json(200, { id: handle.id, created: false, ...(job !== undefined && { job: shownJob(job, redaction) }) })
      },
    }),

    operation({
      id: 'enqueueMany',
      method: 'post',
      path: '/v1/jobs:bulk',
      tag: 'jobs',
      scope: 'enqueue',
      summary: 'Create many jobs, all or none',
      description:
        'Up to 10,000 jobs and `maxBodyBytes`. More goes through `/v1/jobs:import`. With an `Idempotency-Key` each job without a key of its own has that and its place.',
      headers: MANY_KEYS_HEADER,
      body: NEW_JOBS,
      responses: {
        201: { description: 'In order; some may have been there', schema: ENQUEUED_MANY },
        200: { description: 'All of them were there already', schema: ENQUEUED_MANY },
      },
      refusals: [409],
      async handle({ body, request }) {
        const key = request.headers.get('idempotency-key')
        const handles = await engine.enqueueMany(
          body.map((item, place) => {
            const { job, data, options: read } = withBytes(item, `jobs[${place}].`)
            const options = enqueueOptions(key === null ? read : { idempotencyKey: `${key}:${place}`, ...read })
            return { job, data, ...(options !== undefined && { options }) }
          }),
        )
        return enqueuedMany(handles)
      },
    }),

    operation({
      id: 'listJobs',
      method: 'get',
      path: '/v1/jobs',
      tag: 'jobs',
      scope: 'read',
      summary: 'A page of jobs, newest first',
      query: JOB_QUERY,
      responses: { 200: { description: 'The page', schema: JOB_PAGE } },
      async handle({ query: { after: cursor, include, ...filter } }) {
        const { search, ...others } = filter
        const isById = redaction.hidesFromSearch && cursor === undefined && search !== undefined && rowOfShortId(search) !== undefined
        redaction.refuseSearch(isById ? others : filter)
        const after = cursors.open('jobs', cursor)
        const options = {
          ...(isById ? others : filter),
          ...(include !== undefined && { lastRun: true }),
          ...(after !== undefined && { after }),
        }
        const page = isById ? pageOfShortId(engine, search, options as ListOptions) : engine.list(options as ListOptions)
        const { jobs, next, ...found } = await page
        return json(200, { jobs: jobs.map((job) => shownJob(job, redaction)), next: cursors.sign('jobs', next), ...found })
      },
    }),

    operation({
      id: 'getJob',
      method: 'get',
      path: '/v1/jobs/{id}',
      tag: 'jobs',
      scope: 'read',
      summary: 'A job, with its attempts and their logs',
      params: JOB_PATH,
      query: GET_QUERY,
      responses: { 200: { description: 'The job', schema: JOB } },
      refusals: [404],
      async handle({ params: { id }, query }) {
        const job = await engine.get(id, query as GetOptions)
        if (job === undefined) throw new JobNotFoundError(`there is no job ${shortened(id)}`, { jobId: id })
        return json(200, shownJob(job, redaction))
      },
    }),

    operation({
      id: 'getJobLogs',
      method: 'get',
      path: '/v1/jobs/{id}/logs',
      tag: 'jobs',
      scope: 'read',
      summary: 'Log lines of a run of a job, one page',
      params: JOB_PATH,
      query: LOGS_QUERY,
      responses: { 200: { description: 'The lines', schema: JOB_LOGS } },
      refusals: [404],
      async handle({ params: { id }, query }) {
        const { lines, ...page } = await engine.logs(id, query as LogsOptions)
        return json(200, { ...page, lines: lines.map((line) => redaction.line(line)) })
      },
    }),

    operation({
      id: 'getJobSteps',
      method: 'get',
      path: '/v1/jobs/{id}/steps',
      tag: 'jobs',
      scope: 'read',
      summary: 'Stored steps of a job, one page, with its open waits and the messages that it keeps',
      params: JOB_PATH,
      query: STEPS_QUERY,
      responses: { 200: { description: 'The results', schema: JOB_STEPS } },
      refusals: [404],
      async handle({ params: { id }, query }) {
        const { steps, messages, ...page } = await engine.steps(id, query as StepsOptions)
        const shown = (each: JobStep | JobMessage) => shownStep(each, redaction)
        return json(200, { steps: steps.map(shown), messages: messages.map(shown), ...page })
      },
    }),

    operation({
      id: 'explainJob',
      method: 'get',
      path: '/v1/jobs/{id}/explain',
      tag: 'jobs',
      scope: 'read',
      summary: 'Why a job has not ended',
      params: JOB_PATH,
      responses: { 200: { description: 'The causes that keep it from starting now', schema: EXPLANATION } },
      refusals: [404],
      async handle({ params: { id } }) {
        const explanation = await engine.explain(id)
        if (explanation === undefined) throw new JobNotFoundError(`there is no job ${shortened(id)}`, { jobId: id })
        return json(200, explanation)
      },
    }),

    operation({
      id: 'cancelJob',
      method: 'post',
      path: '/v1/jobs/{id}/cancel',
      tag: 'jobs',
      scope: 'admin',
      summary: 'Cancel a job: one that waits at once, one that runs by aborting its signal',
      params: JOB_PATH,
      body: CANCEL,
      bodyOptional: true,
      responses: {
        200: {
          description: 'How far it came',
          schema: z.strictObject({ outcome: z.enum(['cancelled', 'cancelling', 'finished']) }).openapi('CancelResult'),
        },
      },
      refusals: [404, 409],
      target: (body) => body,
      async handle({ params, body, caller }) {
        return json(200, { outcome: await engine.cancel(params.id, { ...body, ...namedBy(caller) } as CancelOptions) })
      },
    }),

    operation({
      id: 'retryJob',
      method: 'post',
      path: '/v1/jobs/{id}/retry',
      tag: 'jobs',
      scope: 'admin',
      summary: 'Run a failed or cancelled job again, or one that waits for its retry at once',
      params: JOB_PATH,
      body: RETRY,
      bodyOptional: true,
      responses: { 204: { description: 'It is due' } },
      refusals: [404, 409],
      async handle({ params, body }) {
        await engine.retry(params.id, body as RetryOptions)
        return noContent()
      },
    }),

    operation({
      id: 'enqueueJobAgain',
      method: 'post',
      path: '/v1/jobs/{id}/enqueue',
      tag: 'jobs',
      scope: 'admin',
      summary: 'Create a copy of a job, with its data and options, and without its keys',
      params: JOB_PATH,
      responses: { 201: { description: 'It is created, and stored', schema: ENQUEUED } },
      refusals: [404, 409],
      async handle({ params }) {
        const { id } = await engine.enqueueAgain(params.id)
        return json(201, { id, created: true }, { location: `${settings.basePath}/v1/jobs/${id}` })
      },
    }),

    operation({
      id: 'runJob',
      method: 'post',
      path: '/v1/jobs/{id}/run',
      tag: 'jobs',
      scope: 'admin',
      summary: 'Make a scheduled job due now',
      params: JOB_PATH,
      responses: { 204: { description: 'It is due' } },
      refusals: [404, 409],
      async handle({ params }) {
        await engine.runNow(params.id)
        return noContent()
      },
    }),

    operation({
      id: 'updateJob',
      method: 'patch',
      path: '/v1/jobs/{id}',
      tag: 'jobs',
      scope: 'admin',
      summary: 'Change a job: tags and meta in any state, the rest before it has started',
      params: JOB_PATH,
      body: JOB_CHANGES,
      responses: { 204: { description: 'It is changed' } },
      refusals: [404, 409],
      async handle({ params, body }) {
        await engine.update(params.id, endlessOf(withBytes(body)) as UpdateOptions)
        return noContent()
      },
    }),

    operation({
      id: 'deleteJob',
      method: 'delete',
      path: '/v1/jobs/{id}',
      tag: 'jobs',
      scope: 'admin',
      summary: 'Remove a job that is not running, with all that it has left',
      params: JOB_PATH,
      responses: { 204: { description: 'It is gone' } },
      refusals: [404, 409],
      async handle({ params }) {
        await engine.delete(params.id)
        return noContent()
      },
    }),
  ]
}

/** Returns the job of this short id, if it matches. The engine's search for one that no job has goes on into the data. */
async function pageOfShortId(engine: Service['engine'], id: string, options: ListOptions): Promise<JobPage> {
  const job = await engine.get(id, { payload: 'none' })
  const key = job && parseId(job.id)
  if (key === undefined) return { jobs: [], next: undefined }
  const { jobs } = await engine.list({ ...options, order: 'newest', limit: 1, after: formatCursor(key.seq + 1) })
  return { jobs: jobs.filter((each) => each.id === job?.id), next: undefined }
}

interface Keyed {
  readonly idempotencyKey?: string | undefined
}

/** Adds the key in the header to the options. If both have one, they must be the same. */
export function withKey<Options extends Keyed>(options: Options | undefined, request: Request): Options | undefined {
  const header = request.headers.get('idempotency-key')
  if (header === null) return options
  const { idempotencyKey = header } = options ?? {}
  if (idempotencyKey !== header) {
    const message = 'the header Idempotency-Key and options.idempotencyKey are not the same: give one of them'
    throw invalid(message, [{ path: 'header.idempotency-key', message }])
  }
  return { ...options, idempotencyKey } as Options
}

function enqueuedMany(handles: readonly JobHandle[]): Response {
  const jobs = handles.map(({ id, created }) => ({ id, created }))
  const created = jobs.filter((job) => job.created).length
  return json(created > 0 ? 201 : 200, { created, existing: jobs.length - created, jobs })
}

/** The job that holds a key, and the key itself. */
import { z } from '@hono/zod-openapi'
import {
  type CancelOptions,
  endlessOf,
  type GetOptions,
  JobNotFoundError,
  type JobOfKey,
  KEY_KINDS,
  type RetryOptions,
  type UpdateOptions,
} from '@millrace/core'
import { namedBy } from '../access/caller.ts'
import { json, noContent } from '../answer.ts'
import { withBytes } from '../binary.ts'
import { type Operation, operation, type Service } from '../operation.ts'
import { CANCEL, GET_QUERY, JOB, JOB_CHANGES, RETRY, shownJob } from '../schemas/job.ts'
import { KEY, NAME } from '../schemas/plain.ts'

const PARAMS = z.strictObject({
  kind: z.enum(KEY_KINDS).openapi({ param: { name: 'kind', in: 'path' } }),
  name: NAME.openapi({ param: { name: 'name', in: 'path' }, description: 'The name of the job.' }),
  key: KEY.openapi({ param: { name: 'key', in: 'path' } }),
})

const PATH = '/v1/keys/{kind}/{name}/{key}'

export function keyedRoutes({ engine, redaction }: Service): readonly Operation[] {
  const admin = { tag: 'jobs', scope: 'admin', params: PARAMS, refusals: [404, 409] } as const
  return [
    operation({
      id: 'getJobByKey',
      method: 'get',
      path: PATH,
      tag: 'jobs',
      scope: 'read',
      summary: 'The job that holds a key, with its attempts and their logs',
      params: PARAMS,
      query: GET_QUERY,
      responses: { 200: { description: 'The job', schema: JOB } },
      refusals: [404],
      async handle({ params, query }) {
        const job = await engine.get(jobOf(params), query as GetOptions)
        const { kind, name, key } = params
        if (job === undefined) throw new JobNotFoundError(`no job '${name}' has the ${kind} key '${key}'`, { jobId: '' })
        return json(200, shownJob(job, redaction))
      },
    }),
    operation({
      ...admin,
      id: 'cancelJobByKey',
      method: 'post',
      path: `${PATH}/cancel`,
      summary: 'Cancel the job that holds a key',
      body: CANCEL,
      bodyOptional: true,
      responses: { 200: { description: 'How far it came', schema: z.strictObject({ outcome: z.string() }).openapi('CancelByKeyResult') } },
      target: (body) => body,
      handle: async ({ params, body, caller }) =>
        json(200, { outcome: await engine.cancel(jobOf(params), { ...body, ...namedBy(caller) } as CancelOptions) }),
    }),
    operation({
      ...admin,
      id: 'retryJobByKey',
      method: 'post',
      path: `${PATH}/retry`,
      summary: 'Retry the job that holds a key',
      body: RETRY,
      bodyOptional: true,
      responses: { 204: { description: 'It is due' } },
      async handle({ params, body }) {
        await engine.retry(jobOf(params), body as RetryOptions)
        return noContent()
      },
    }),
    operation({
      ...admin,
      id: 'runJobByKey',
      method: 'post',
      path: `${PATH}/run`,
      summary: 'Make the scheduled job that holds a key due now',
      responses: { 204: { description: 'It is due' } },
      async handle({ params }) {
        await engine.runNow(jobOf(params))
        return noContent()
      },
    }),
    operation({
      ...admin,
      id: 'updateJobByKey',
      method: 'patch',
      path: PATH,
      summary: 'Change the job that holds a key',
      body: JOB_CHANGES,
      responses: { 204: { description: 'It is changed' } },
      async handle({ params, body }) {
        await engine.update(jobOf(params), endlessOf(withBytes(body)) as UpdateOptions)
        return noContent()
      },
    }),
    operation({
      ...admin,
      id: 'deleteJobByKey',
      method: 'delete',
      path: PATH,
      summary: 'Delete the job that holds a key',
      responses: { 204: { description: 'It is gone' } },
      async handle({ params }) {
        await engine.delete(jobOf(params))
        return noContent()
      },
    }),
    operation({
      ...admin,
      id: 'releaseKey',
      method: 'post',
      path: `${PATH}/release`,
      summary: 'Take a key from the job that holds it, so that another call may use it',
      responses: {
        200: { description: 'False if no job holds it', schema: z.strictObject({ released: z.boolean() }).openapi('ReleaseResult') },
      },
      handle: async ({ params }) => json(200, { released: await engine.releaseKey(jobOf(params)) }),
    }),
  ]
}

function jobOf({ kind, name, key }: z.infer<typeof PARAMS>): JobOfKey {
  return kind === 'unique' ? { name, uniqueKey: key } : { name, idempotencyKey: key }
}

/** Changes many jobs that match a filter. */
import { z } from '@hono/zod-openapi'
import type { ManyFilter, ManyOptions, RedriveOptions } from '@millrace/core'
import { json } from '../answer.ts'
import { type Operation, operation, type Service } from '../operation.ts'
import { MANY, MANY_RESULT, REDRIVE } from '../schemas/job.ts'

export function manyRoutes({ engine }: Service): readonly Operation[] {
  const many = (word: 'cancel' | 'retry' | 'delete', summary: string): Operation => {
    const call = `${word}Many` as const
    return operation({
      id: `${word}Jobs`,
      method: 'post',
      path: `/v1/jobs:${word}`,
      tag: 'jobs',
      scope: 'admin',
      summary,
      description: 'In slices of at most 500, newest first. With `dryRun` it counts, and changes nothing.',
      body: MANY,
      responses: { 200: { description: 'How many', schema: MANY_RESULT } },
      // The events of each job show which jobs they were.
      target: ({ filter: { ids, ...filter }, limit, dryRun }) => ({
        filter: { ...filter, ...(ids !== undefined && { ids: ids.length }) },
        limit,
        dryRun,
      }),
      async handle({ body: { filter, limit, dryRun } }) {
        const options = { ...(limit !== undefined && { limit }), ...(dryRun !== undefined && { dryRun }) }
        return json(200, await engine[call](filter as ManyFilter, options as ManyOptions))
      },
    })
  }
  return [
    operation({
      id: 'redriveJobs',
      method: 'post',
      path: '/v1/jobs:redrive',
      tag: 'jobs',
      scope: 'admin',
      summary: 'Retry failed jobs, the oldest failure first',
      body: REDRIVE,
      bodyOptional: true,
      responses: { 200: { description: 'How many', schema: z.strictObject({ count: z.number() }).openapi('RedriveResult') } },
      target: (body) => body,
      handle: async ({ body }) => json(200, await engine.redrive(body as RedriveOptions)),
    }),
    many('cancel', 'Cancel all jobs that a filter matches'),
    many('retry', 'Retry all jobs that a filter matches'),
    many('delete', 'Remove all jobs that a filter matches, but for those that run'),
  ]
}

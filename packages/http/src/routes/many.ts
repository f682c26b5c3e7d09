/** Changes many jobs that match a filter. */
import { z } from '@hono/zod-openapi'
import { endlessOf, type ManyFilter, type ManyOptions, type RedriveOptions, type UpdateManyChanges } from '@millrace/core'
import { namedBy } from '../access/caller.ts'
import { json } from '../answer.ts'
import { type Operation, operation, type Service } from '../operation.ts'
import { CANCEL_MANY, MANY, MANY_RESULT, REDRIVE, UPDATE_MANY } from '../schemas/job.ts'

export function manyRoutes({ engine, redaction }: Service): readonly Operation[] {
  const filterOf = ({ filter }: Body): ManyFilter => {
    redaction.refuseSearch(filter)
    return filter as ManyFilter
  }
  const many = (word: 'retry' | 'delete' | 'run', summary: string): Operation => {
    const call = word === 'run' ? 'runNowMany' : (`${word}Many` as const)
    return operation({
      id: `${word}Jobs`,
      method: 'post',
      path: `/v1/jobs:${word}`,
      tag: 'jobs',
      scope: 'admin',
      summary,
      description: SLICES,
      body: MANY,
      responses: { 200: { description: 'How many', schema: MANY_RESULT } },
      // The events of each job show which jobs they were.
      target: targetOf,
      handle: async ({ body }) => json(200, await engine[call](filterOf(body), optionsOf(body))),
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
    operation({
      id: 'cancelJobs',
      method: 'post',
      path: '/v1/jobs:cancel',
      tag: 'jobs',
      scope: 'admin',
      summary: 'Cancel all jobs that a filter matches',
      description: SLICES,
      body: CANCEL_MANY,
      responses: { 200: { description: 'How many', schema: MANY_RESULT } },
      target: ({ reason, ...body }) => ({ ...targetOf(body), reason }),
      handle: async ({ body, caller }) =>
        json(
          200,
          await engine.cancelMany(filterOf(body), {
            ...optionsOf(body),
            ...(body.reason !== undefined && { reason: body.reason }),
            ...namedBy(caller),
          }),
        ),
    }),
    many('retry', 'Retry all jobs that a filter matches'),
    many('delete', 'Remove all jobs that a filter matches, but for those that run'),
    many('run', 'Make all scheduled jobs that a filter matches due now'),
    operation({
      id: 'updateJobs',
      method: 'post',
      path: '/v1/jobs:update',
      tag: 'jobs',
      scope: 'admin',
      summary: 'Change all jobs that a filter matches: tags and meta in any state, the rest before they have started',
      description: SLICES,
      body: UPDATE_MANY,
      responses: { 200: { description: 'How many', schema: MANY_RESULT } },
      target: ({ changes: { meta: _meta, ...changes }, ...body }) => ({ ...targetOf(body), changes }),
      handle: async ({ body }) =>
        json(200, await engine.updateMany(filterOf(body), endlessOf(body.changes) as UpdateManyChanges, optionsOf(body))),
    }),
  ]
}

const SLICES = 'In slices of at most 500, newest first. With `dryRun` it counts, and changes nothing.'

type Body = z.infer<typeof MANY>

/** Returns a call as the log of audited calls shows it. */
function targetOf({ filter: { ids, ...filter }, limit, dryRun }: Body): Readonly<Record<string, unknown>> {
  return { filter: { ...filter, ...(ids !== undefined && { ids: ids.length }) }, limit, dryRun }
}

function optionsOf({ limit, dryRun }: Body): ManyOptions {
  return { ...(limit !== undefined && { limit }), ...(dryRun !== undefined && { dryRun }) }
}

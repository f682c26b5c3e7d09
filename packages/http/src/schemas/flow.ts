/** Schemas of flows: new ones, and how far they are. */
import { z } from '@hono/zod-openapi'
import { FLOW_STATES, LIMITS, ON_PARENT_FAILURE } from '@millrace/core'
import { binaryOf } from '../binary.ts'
import { ID } from './job.ts'
import { IDEMPOTENCY, NODE_OPTIONS } from './options.ts'
import { CURSOR, KEY, NAME, STATE, STATE_COUNTS, WHEN, whole } from './plain.ts'

export const FLOW = z
  .strictObject({
    nodes: z
      .array(
        z.strictObject({
          ref: KEY,
          job: NAME,
          data: z.unknown().optional(),
          binary: binaryOf('data'),
          options: NODE_OPTIONS.optional(),
          dependsOn: z.array(KEY).optional(),
          onParentFailure: z.enum(ON_PARENT_FAILURE).optional(),
        }),
      )
      .min(1)
      .max(LIMITS.jobsPerCommand),
    options: z.strictObject(IDEMPOTENCY).optional(),
  })
  .openapi('NewFlow')

export const FLOW_CREATED = z
  .strictObject({ id: ID, created: z.boolean(), jobs: z.record(z.string(), z.string()).openapi({ description: 'Ids by ref.' }) })
  .openapi('Flow')

export const FLOW_QUERY = z.strictObject({ after: CURSOR.optional(), limit: whole(1, LIMITS.pageJobs).optional() })

const DEPENDENCY = z
  .strictObject({
    id: ID,
    ref: z.string(),
    told: z.enum(['completed', 'failed', 'cancelled', 'deleted']).optional().openapi({
      description: 'Its final state as the job saw it, `deleted` if it had none; absent until it has ended.',
    }),
  })
  .openapi('FlowDependency')

export const FLOW_PAGE = z
  .strictObject({
    id: ID,
    jobs: z.array(
      z
        .strictObject({
          id: ID,
          ref: z.string(),
          name: z.string(),
          queue: z.string(),
          state: STATE,
          attempt: z.number(),
          runAt: WHEN,
          startedAt: WHEN.optional(),
          finishedAt: WHEN.optional(),
          onParentFailure: z.enum(ON_PARENT_FAILURE),
          parents: z.number().openapi({ description: 'How many jobs it waits for.' }),
          dependsOn: z
            .array(DEPENDENCY)
            .openapi({ description: 'If the job waits for more than 1,000 jobs, this is a part: the next page begins with the rest.' }),
        })
        .openapi('FlowJob'),
    ),
    next: z.string().optional(),
    states: STATE_COUNTS.optional().openapi({ description: 'All jobs of the flow that are kept, by state.' }),
  })
  .openapi('FlowPage')

const FLOW_STATE = z.enum(FLOW_STATES).openapi('FlowState', {
  description: 'It runs while one of its jobs has yet to end. Then it has failed if a job has, or was cancelled if a job was.',
})

export const FLOWS_QUERY = z.strictObject({
  state: FLOW_STATE.optional(),
  after: CURSOR.optional(),
  limit: whole(1, LIMITS.pageJobs).optional(),
})

export const FLOW_LIST = z
  .strictObject({
    flows: z.array(
      z
        .strictObject({
          id: ID,
          name: z.string().openapi({ description: 'The name of its first job that is kept. `queue` is the queue of that job.' }),
          queue: z.string(),
          state: FLOW_STATE,
          states: STATE_COUNTS.openapi({ description: 'Its jobs that are kept, by state.' }),
          enqueuedAt: WHEN,
          finishedAt: WHEN.optional(),
        })
        .openapi('FlowSummary'),
    ),
    next: z.string().optional(),
    partial: z
      .boolean()
      .optional()
      .openapi({ description: 'The page ended before it was full, at a bound of looking. There may be more behind `next`.' }),
  })
  .openapi('FlowList')

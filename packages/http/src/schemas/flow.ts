/** Schemas of flows: new ones, and how far they are. */
import { z } from '@hono/zod-openapi'
import { LIMITS, ON_PARENT_FAILURE } from '@millrace/core'
import { FLOW_JOB, FLOW_SUMMARY, STATE_COUNTS } from '@millrace/core/answers'
import { binaryOf } from '../binary.ts'
import { answerOf } from './answer.ts'
import { ID } from './job.ts'
import { IDEMPOTENCY, NODE_OPTIONS } from './options.ts'
import { CURSOR, FLOW_STATE, KEY, NAME, whole } from './plain.ts'

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

export const FLOW_PAGE = z
  .strictObject({
    id: ID,
    jobs: z.array(answerOf(FLOW_JOB)),
    next: z.string().optional(),
    states: answerOf(STATE_COUNTS).openapi({ description: 'All jobs of the flow that are kept, by state.' }),
  })
  .openapi('FlowPage')

export const FLOWS_QUERY = z.strictObject({
  state: FLOW_STATE.optional(),
  after: CURSOR.optional(),
  limit: whole(1, LIMITS.pageJobs).optional(),
})

export const FLOW_LIST = z
  .strictObject({
    flows: z.array(answerOf(FLOW_SUMMARY)),
    next: z.string().optional(),
    partial: z
      .boolean()
      .optional()
      .openapi({ description: 'The page ended before it was full, at a bound of scanned jobs. There may be more behind `next`.' }),
  })
  .openapi('FlowList')

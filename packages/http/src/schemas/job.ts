/** Schemas of jobs: as they are requested, and as they are shown. */
import { z } from '@hono/zod-openapi'
import type { Job, JobMessage, JobStep, PayloadPreview, PayloadPreviews } from '@millrace/client'
import { LIMITS, LIST_ORDERS, PAYLOAD_MODES, PAYLOADS, RUN_CHANGES } from '@millrace/core'
import {
  DECODED,
  EXPLANATION as EXPLANATION_ROWS,
  JOB as JOB_ROWS,
  KEPT_MESSAGE,
  NUMBERED_LINE,
  OPEN_WAIT,
  STEP,
} from '@millrace/core/answers'
import { base64, binaryOf } from '../binary.ts'
import { BOUNDS } from '../limits.ts'
import { REDACTED, type Redaction } from '../redaction.ts'
import { answerOf, shapeOf } from './answer.ts'
import { FILTER_BODY, FILTER_QUERY } from './filter.ts'
import { givenOf, schemasOf } from './kind.ts'
import { ENQUEUE_OPTIONS } from './options.ts'
import { CURSOR, KEY, NAME, SAFE_COUNT, TIME, whole } from './plain.ts'

/** Any JSON. */
const DATA = z.unknown().optional()

export const NEW_JOB = z
  .strictObject({
    job: NAME.openapi({ description: 'The name that routes it to its handler.', example: 'resize' }),
    data: DATA,
    binary: binaryOf('data'),
    options: ENQUEUE_OPTIONS.optional(),
  })
  .openapi('NewJob')

export const NEW_JOBS = z.array(NEW_JOB).min(1).max(LIMITS.jobsPerCommand).openapi('NewJobs')

export const ID = z.string().openapi({ description: 'A UUIDv7.', example: '01990a5e-7f00-7000-8000-000000400001' })

/** The id in a path. A string that is not an id belongs to no job. */
export const JOB_PATH = z.strictObject({
  id: z
    .string()
    .max(128)
    .openapi({ param: { name: 'id', in: 'path' } }),
})

export const LOGS_QUERY = z.strictObject({
  run: whole(1, Number.MAX_SAFE_INTEGER).optional().openapi({ description: 'The run whose lines are shown; default the last one.' }),
  after: whole(0, Number.MAX_SAFE_INTEGER).optional().openapi({ description: '`next` of the page before.' }),
  limit: whole(1, LIMITS.pageLogs).optional().openapi({ description: 'Lines in the page; default 100.' }),
  order: z.enum(['oldest', 'newest']).optional().openapi({ description: 'Default: the oldest first.' }),
})

export const JOB_LOGS = z
  .strictObject({
    run: z.number().openapi({ description: '0 if the job has had no run.' }),
    lines: z.array(answerOf(NUMBERED_LINE)),
    next: z.number().optional().openapi({ description: 'Give it as `after`, with `run`; absent at the end.' }),
  })
  .openapi('JobLogs')

export const STEPS_QUERY = z.strictObject({
  after: LOGS_QUERY.shape.after,
  limit: whole(1, LIMITS.pageSteps).optional().openapi({ description: 'Results in the page; default 100.' }),
})

export const JOB_STEPS = z
  .strictObject({
    steps: z.array(
      z
        .strictObject({
          ...shapeOf(STEP.rows),
          binary: z.literal(true).optional().openapi({ description: 'The value is bytes, and is shown as base64.' }),
          undecoded: z.literal(true).optional().openapi({ description: 'The value could not be decoded, and is shown as it is stored.' }),
        })
        .openapi('JobStep'),
    ),
    waits: z.array(answerOf(OPEN_WAIT)).openapi({ description: 'The open waits of the job, the earliest end first.' }),
    messages: z
      .array(
        z
          .strictObject({
            ...shapeOf(KEPT_MESSAGE.rows),
            binary: z.literal(true).optional().openapi({ description: 'The value is bytes, and is shown as base64.' }),
            undecoded: z.literal(true).optional().openapi({ description: 'The value could not be decoded, and is shown as it is stored.' }),
          })
          .openapi('KeptMessage'),
      )
      .openapi({ description: 'The oldest messages that no wait has taken yet: the same in every page.' }),
    kept: z.number().openapi({ description: 'The number of all messages that no wait has taken yet.' }),
    next: z.number().optional().openapi({ description: 'Give it as `after`; absent at the end.' }),
  })
  .openapi('JobSteps')

/** Returns the result or the message without what `redact` hides, and with bytes as base64. */
export function shownStep(found: JobStep | JobMessage, redaction: Redaction): unknown {
  const step = redaction.step(found)
  return step.value instanceof Uint8Array ? { ...step, value: base64(step.value), binary: true } : step
}

export const EXPLANATION = answerOf(EXPLANATION_ROWS)

const PAYLOAD = z.enum(PAYLOADS)

const PREVIEW = z
  .strictObject({
    bytes: z.number().openapi({ description: 'The size of the whole payload as it is stored.' }),
    text: z.string().optional().openapi({
      description:
        'The beginning: JSON, or bytes as base64. Absent if a codec cannot decode it, if it is too large to decode for a list, or if it is no JSON and `redact` has paths of it.',
    }),
    binary: z.literal(true).optional().openapi({ description: 'The payload is bytes: `text` is base64.' }),
    cut: z.literal(true).optional().openapi({ description: '`text` is not all of it.' }),
  })
  .openapi('PayloadPreview')

export const REDACTED_SHOWN = z.array(z.enum(REDACTED)).optional().openapi({
  description: 'Which payloads have values that the option `redact` hides. Of a cut preview, only values before the cut count.',
})

export const JOB = z
  .strictObject({
    ...shapeOf(JOB_ROWS.rows),
    ...shapeOf(DECODED.rows),
    binary: z.array(PAYLOAD).optional().openapi({ description: 'The payloads that are bytes, and are shown as base64.' }),
    preview: z
      .strictObject({ data: PREVIEW.optional(), output: PREVIEW.optional(), checkpoint: PREVIEW.optional() })
      .optional()
      .openapi({ description: 'With `payload=preview`, in place of the payloads: the beginning of each that exists.' }),
    redacted: REDACTED_SHOWN,
  })
  .openapi('Job')

/** Returns the job without what `redact` hides, and with bytes as base64, because JSON has no other way to hold them. */
export function shownJob(found: Job, redaction: Redaction): unknown {
  const job = redaction.job(found)
  const preview = job.preview && { preview: shownPreviews(job.preview) }
  const binary = PAYLOADS.filter((payload) => job[payload] instanceof Uint8Array)
  if (binary.length === 0) return preview === undefined ? job : { ...job, ...preview }
  const texts = binary.map((payload) => [payload, base64(job[payload] as Uint8Array)] as const)
  return { ...job, ...Object.fromEntries(texts), binary }
}

function shownPreviews(previews: PayloadPreviews): unknown {
  return Object.fromEntries(Object.entries(previews).map(([name, preview]) => [name, shownPreview(preview)]))
}

function shownPreview({ bytes, start, cut }: PayloadPreview): unknown {
  const text = start instanceof Uint8Array ? { text: base64(start), binary: true } : { text: start }
  return { bytes, ...text, ...(cut && { cut }) }
}

export const ENQUEUED = z
  .strictObject({
    id: ID,
    created: z.boolean().openapi({ description: 'False where a key matched an earlier job, which this then is.' }),
    job: JOB.optional().openapi({ description: 'The earlier job, where a key matched and the token has the scope `read`.' }),
  })
  .openapi('Enqueued')

export const ENQUEUED_MANY = z
  .strictObject({ created: z.number(), existing: z.number(), jobs: z.array(z.strictObject({ id: ID, created: z.boolean() })) })
  .openapi('EnqueuedMany')

export const JOB_PAGE = z
  .strictObject({
    jobs: z.array(JOB),
    next: z.string().optional(),
    partial: z.boolean().optional().openapi({
      description: 'The page ended before it was full, at a bound of scanned jobs or of bytes. There may be more behind `next`.',
    }),
    scanned: z.number().optional().openapi({
      description: 'How many jobs of the list were passed to fill the page, deleted ones included. Absent if an index has found the jobs.',
    }),
  })
  .openapi('JobPage')

const SEARCH = z.string().min(1).max(BOUNDS.searchLength).optional().openapi({ description: 'A string that the jobs contain.' })

const PAYLOAD_QUERY = z.enum(PAYLOAD_MODES).optional()

export const GET_QUERY = z.strictObject({
  payload: PAYLOAD_QUERY.openapi({
    description: 'How much of data, output and checkpoint to show: all (default), the first 64 KiB of each in `preview`, or nothing.',
  }),
})

export const JOB_QUERY = z.strictObject({
  ...FILTER_QUERY,
  search: SEARCH,
  payload: PAYLOAD_QUERY.openapi({
    description: 'How much of data, output and checkpoint to show: all (default), the first 512 bytes of each in `preview`, or nothing.',
  }),
  order: z.enum(LIST_ORDERS).optional().openapi({
    description:
      '`newest` (default); `oldest`; `finished`: last finished first, with a final `state`; `due`: soonest first, with `state=scheduled`.',
  }),
  include: z.enum(['lastRun']).optional().openapi({ description: 'Each job with the worker, the times and the error of its last run.' }),
  after: CURSOR.optional(),
  limit: whole(1, LIMITS.pageJobs).optional(),
})

const PLACE_CHANGES = {
  runAt: TIME.optional(),
  ...schemasOf(RUN_CHANGES, givenOf),
  tags: z.array(KEY).max(LIMITS.tagsPerJob).optional().openapi({ description: 'In place of all that the job has.' }),
  meta: DATA.openapi({ description: 'In place of the whole.' }),
}

export const JOB_CHANGES = z
  .strictObject({
    data: DATA,
    ...PLACE_CHANGES,
    checkpoint: DATA,
    binary: binaryOf('data', 'checkpoint'),
  })
  .openapi('JobChanges')

export const TREE = z
  .strictObject({ descendants: z.boolean().optional().openapi({ description: 'All that waits for it in its flow, too.' }) })
  .openapi('TreeOptions')

export const RETRY = TREE.extend({
  from: KEY.optional().openapi({
    description: 'Name of the step at which the job resumes, or `start`. Default: the first step that has failed. Not with `descendants`.',
  }),
}).openapi('RetryOptions')

const REASON = z.string().min(1).max(LIMITS.reasonLength).optional().openapi({
  description: "The job stores it with the name of the caller's token, and its handler finds it in `signal.reason`.",
})

export const CANCEL = TREE.extend({ reason: REASON }).openapi('CancelOptions')

const FILTER = z
  .strictObject({
    ...FILTER_BODY,
    search: SEARCH,
    ids: z.array(z.string().max(128)).optional(),
    all: z.literal(true).optional(),
  })
  .openapi('ManyFilter', { description: 'A job is meant where all that is given holds; at least one is given, or `all` alone.' })

const MANY_FIELDS = { filter: FILTER, limit: SAFE_COUNT.optional(), dryRun: z.boolean().optional() }

export const MANY = z.strictObject(MANY_FIELDS).openapi('ManyRequest')

export const CANCEL_MANY = z.strictObject({ ...MANY_FIELDS, reason: REASON }).openapi('CancelManyRequest')

export const UPDATE_MANY = z
  .strictObject({ ...MANY_FIELDS, changes: z.strictObject(PLACE_CHANGES).openapi('PlaceChanges') })
  .openapi('UpdateManyRequest')

export const MANY_RESULT = z
  .strictObject({ matched: z.number(), changed: z.number(), skipped: z.record(z.string(), z.number()) })
  .openapi('ManyResult')

export const REDRIVE = z
  .strictObject({ queue: NAME.optional(), name: NAME.optional(), limit: SAFE_COUNT.optional() })
  .openapi('RedriveRequest')

export const IDEMPOTENCY_HEADER = z.object({
  'idempotency-key': KEY.optional().openapi({
    description: 'As `options.idempotencyKey`: create once; a repeat is answered with the first job.',
  }),
})

/** The key is shorter than others, because each of many jobs has it with its place appended. */
export const MANY_KEYS_HEADER = z.object({
  'idempotency-key': z
    .string()
    .min(1)
    .max(LIMITS.keyLength - 22)
    .optional()
    .openapi({ description: 'With the place of each job behind it, the idempotency key of that job.' }),
})

export const PROBLEM = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.number(),
    code: z.string().openapi({ description: 'Stable: programs can rely on it.', example: 'JOB_NOT_FOUND' }),
    detail: z.string().optional(),
    retryable: z.boolean().optional().openapi({ description: 'True if the same request may succeed later, unchanged.' }),
    option: z.string().optional(),
    limit: z.union([z.number(), z.string()]).optional(),
    errors: z.array(z.strictObject({ path: z.string(), message: z.string() })).optional(),
    id: z.string().optional().openapi({ description: 'The id of a 500, by which you find it in the log.' }),
  })
  .openapi('Problem')

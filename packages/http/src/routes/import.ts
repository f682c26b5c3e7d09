/** Creates many jobs from a stream of lines. */
import { z } from '@hono/zod-openapi'
import { type EnqueueOptions, newJobFrom } from '@millrace/core'
import { json } from '../answer.ts'
import { HttpError, type HttpErrorDetails } from '../errors.ts'
import { Importer } from '../importer.ts'
import { BOUNDS } from '../limits.ts'
import { type Call, type Operation, operation, type Service } from '../operation.ts'
import { unsupported } from '../requests/body.ts'
import { inTime } from '../requests/inTime.ts'
import { Lines } from '../requests/lines.ts'
import { MANY_KEYS_HEADER } from '../schemas/job.ts'
import { QUERY_OPTIONS } from '../schemas/options.ts'
import { KEY, NAME } from '../schemas/plain.ts'

const JSON_LINES = ['application/x-ndjson', 'application/jsonl']
const PLAIN = 'text/plain'

const RESULT = z
  .strictObject({
    lines: z.number(),
    skipped: z.number().openapi({ description: 'Blank lines, and those that begin with #.' }),
    created: z.number(),
    existing: z.number().openapi({ description: 'Lines whose key matched an earlier job.' }),
    refused: z.number(),
    errors: z
      .array(z.strictObject({ line: z.number(), code: z.string(), message: z.string() }))
      .openapi({ description: 'The first 100 of those refused.' }),
  })
  .openapi('ImportResult')

const DESCRIPTION = `One payload a line: JSON under \`application/x-ndjson\` or \`application/jsonl\`, a text under \`text/plain\`. Blank lines and lines
that begin with # are skipped. It is read as fast as jobs are stored, and may be of any length. A line that cannot be read is told, and does
not stop the others. What was stored when an import breaks off stays: with an \`Idempotency-Key\` the whole of it can be sent again.`

export function importRoutes(service: Service): readonly Operation[] {
  return [
    operation({
      id: 'importJobs',
      method: 'post',
      path: '/v1/jobs:import',
      tag: 'jobs',
      scope: 'enqueue',
      summary: 'Create a job of each line',
      description: DESCRIPTION,
      query: z.strictObject({
        name: NAME,
        queue: NAME.optional(),
        client: KEY.optional().openapi({ description: 'The client that the jobs belong to, which becomes a tag of each job.' }),
        binary: z.literal('data').optional().openapi({
          description: 'Each line is bytes in base64: a string of JSON or `{"base64": "…"}`, or under `text/plain` the base64 alone.',
        }),
        ...QUERY_OPTIONS,
      }),
      headers: MANY_KEYS_HEADER,
      stream: [...JSON_LINES, PLAIN],
      responses: { 200: { description: 'All of it was read', schema: RESULT } },
      async handle({ query: { name, queue, client, binary, ...run }, request, stillMay }) {
        const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? null
        if (type !== PLAIN && !JSON_LINES.includes(type ?? '')) throw unsupported(type, [...JSON_LINES, PLAIN].join(', '))
        const key = request.headers.get('idempotency-key') ?? undefined
        const options = jobOptions(name, client, run as EnqueueOptions)
        const importer = new Importer(service.engine, { name, queue, options, key, json: type !== PLAIN, binary: binary !== undefined })
        try {
          await readLines(request, importer, service, stillMay)
          return json(200, await importer.end())
        } catch (error) {
          await importer.stop()
          throw withProgress(error, importer)
        }
      },
    }),
  ]
}

/**
 * Returns the options of every job of the import, or undefined if there are none. They are checked once, not for each line.
 *
 * @throws OptionTypeError, OptionRangeError
 */
function jobOptions(name: string, client: string | undefined, run: EnqueueOptions): EnqueueOptions | undefined {
  const options = { ...run, ...(client !== undefined && { tags: [client] }) }
  if (Object.keys(options).length === 0) return undefined
  newJobFrom(name, null, options, undefined)
  return options
}

async function readLines({ body, signal }: Request, importer: Importer, service: Service, stillMay: Call['stillMay']): Promise<void> {
  if (body === null) return
  const reader = body.getReader()
  const leave = () => void reader.cancel().catch(() => {})
  signal.addEventListener('abort', leave, { once: true })
  // A caller who may not enqueue any more is found as a reader of events is: at a change, and now and then.
  let askAt = service.clock.read().mono + BOUNDS.heartbeatMs
  const forget = service.access.onChange(() => {
    askAt = 0
  })
  const lines = new Lines(service.settings.maxLineBytes)
  try {
    for (;;) {
      if (signal.aborted) throw brokenOff()
      const { done, value } = await inTime(reader.read(), service).catch((error: unknown) => {
        throw error instanceof HttpError ? error : brokenOff()
      })
      // The last line may be incomplete.
      if (signal.aborted) throw brokenOff()
      if (done) break
      const now = service.clock.read().mono
      if (now >= askAt) {
        askAt = now + BOUNDS.heartbeatMs
        if (!(await stillMay())) throw revoked()
      }
      await importer.take(lines.push(value))
    }
    await importer.take(lines.end())
  } catch (error) {
    leave()
    throw error
  } finally {
    forget()
    signal.removeEventListener('abort', leave)
  }
}

function revoked(): HttpError {
  return new HttpError('AUTH_FAILED', 'the token was revoked while the import went on: what was stored before stays')
}

function brokenOff(): HttpError {
  return new HttpError('INCOMPLETE', 'the body ended before it was whole: what was stored before stays')
}

/** Adds the counts so far to the error that ended the import. */
function withProgress(error: unknown, { counts }: Importer): unknown {
  return Object.assign(error as object, { progress: counts } satisfies HttpErrorDetails)
}

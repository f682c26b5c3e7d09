/** The job that a line of JSON asks for: as `enqueueMany` takes it, or as `export` has written it. */
import type { JobRequest } from '@millrace/engine'
import { UsageError } from './errors.ts'
import { said } from './jobFlags.ts'

/** Of an exported job, what is asked for again. */
const KEPT = ['queue', 'priority', 'weight', 'maxAttempts', 'heartbeatTimeout', 'tags', 'meta'] as const
/** And what has become of it, which begins anew. */
const FATE = [
  ...['id', 'state', 'output', 'checkpoint', 'progress', 'progressNote', 'attempt', 'run', 'enqueuedAt', 'startedAt', 'finishedAt'],
  ...['expiresAt', 'cancelRequested', 'idempotencyKey', 'uniqueKey', 'flow', 'attempts', 'undecoded'],
]
const OTHERS = ['name', 'job', 'data', 'options', 'runAt', 'maxAge', 'timeout', 'backoff', 'concurrencyKey']
const KNOWN: ReadonlySet<string> = new Set([...KEPT, ...FATE, ...OTHERS])

/** @throws UsageError */
export function importedJob(line: unknown): JobRequest {
  if (typeof line !== 'object' || line === null || Array.isArray(line))
    throw new UsageError('a line is {"name","data","options"}, or an exported job; give --name where it is data alone')
  const fields = line as Readonly<Record<string, unknown>>
  const { job = fields['name'], data, options } = fields
  if (typeof job !== 'string') throw new UsageError('the line says no "name"')
  const unknown = Object.keys(fields).find((name) => !KNOWN.has(name))
  if (unknown !== undefined)
    throw new UsageError(`the line has an unknown field "${unknown}": what the job is enqueued with stands in "options"`)
  const wanted = fields['state'] === undefined ? options : exportedOptions(fields)
  return said<JobRequest>({ job, data: dataOf(data), options: wanted })
}

function exportedOptions(fields: Readonly<Record<string, unknown>>): object {
  const kept = Object.fromEntries(KEPT.map((name) => [name, fields[name]]))
  const { state, runAt, maxAge, timeout, backoff, concurrencyKey } = fields
  return said({
    ...kept,
    maxAge: maxAge ?? undefined,
    timeout: timeout === null ? Number.POSITIVE_INFINITY : timeout,
    backoff,
    concurrencyKey: concurrencyKey ?? undefined,
    runAt: state === 'scheduled' && typeof runAt === 'string' ? new Date(runAt) : undefined,
  })
}

/** Bytes are exported as base64. */
function dataOf(data: unknown): unknown {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return data
  const { base64, ...others } = data as { readonly base64?: unknown }
  return typeof base64 === 'string' && Object.keys(others).length === 0 ? new Uint8Array(Buffer.from(base64, 'base64')) : data
}

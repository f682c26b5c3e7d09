/** Jobs as lines of JSON: what a line asks for, as `enqueueMany` takes it or as `export` has written it; and what `export` writes. */
import { bytesOption, describe, mapJobTexts, type Row, RUN_OPTION_NAMES, RUN_OPTIONS, type RunOption } from '@millrace/core'
import { DECODED, JOB } from '@millrace/core/answers'
import type { Job, JobRequest } from '@millrace/engine'
import { defined } from '../defined.ts'
import { UsageError } from './errors.ts'
import { plain } from './output/plain.ts'

/** The options that an exported job tells, and is enqueued with again: its `ttl` has become a time. */
const OPTIONS = RUN_OPTION_NAMES.filter((name) => name !== 'ttl')
/** The fields of a line of either kind. What else an exported job says has become of it, and begins anew. */
const KNOWN: ReadonlySet<string> = new Set([...OPTIONS, ...Object.keys({ ...JOB.rows, ...DECODED.rows }), 'job', 'binary', 'options'])

const PAYLOADS = ['data', 'output', 'checkpoint'] as const

/** With `binary` where some of its payloads are bytes: their names, as over HTTP. */
export function exportedJob(job: Job): unknown {
  const binary = PAYLOADS.filter((payload) => job[payload] instanceof Uint8Array)
  return { ...(plain(job) as object), ...(binary.length > 0 && { binary }) }
}

/** @throws UsageError */
export function importedJob(line: unknown): JobRequest {
  if (typeof line !== 'object' || line === null || Array.isArray(line))
    throw new UsageError('a line must be {"name","data","options"} or an exported job; if it is only data, give --name')
  const fields = line as Readonly<Record<string, unknown>>
  const { job = fields['name'], data, options } = fields
  if (typeof job !== 'string') throw new UsageError('the line has no "name"')
  const unknown = Object.keys(fields).find((name) => !KNOWN.has(name))
  if (unknown !== undefined)
    throw new UsageError(`the line has an unknown field "${unknown}": the options of an enqueue belong in "options"`)
  const read = isBinary(fields['binary']) ? bytesOption('data', data) : data
  if (fields['state'] === undefined) return defined<JobRequest>({ job, data: read, options })
  return defined<JobRequest>({ job, data: read, options: exportedOptions(fields) })
}

function exportedOptions(fields: Readonly<Record<string, unknown>>): object {
  const { state, runAt, tags, meta } = fields
  return defined({
    ...Object.fromEntries(OPTIONS.map((name) => [name, fields[name] === null ? limitless(name) : fields[name]])),
    tags,
    meta,
    ...mapJobTexts((name) => fields[name] ?? undefined),
    runAt: state === 'scheduled' && typeof runAt === 'string' ? new Date(runAt) : undefined,
  })
}

/** An export writes no limit as null, whether the option has a word for it or is left out. */
function limitless(name: RunOption): number | undefined {
  const { kind }: Row = RUN_OPTIONS[name]
  return kind.type === 'duration' && kind.endless !== undefined ? Number.POSITIVE_INFINITY : undefined
}

/** Data of a job may look as bytes are exported, and be just that: bytes are where `binary` says so. */
function isBinary(names: unknown): boolean {
  if (names === undefined) return false
  if (Array.isArray(names) && names.every((name) => PAYLOADS.includes(name))) return names.includes('data')
  throw new UsageError(`"binary" must be an array of names of payloads, such as ["data"], got ${describe(names)}`)
}

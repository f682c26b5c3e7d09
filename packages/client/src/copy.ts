/** Asks for a new job like one that is there. */
import { CodecError, type EnqueueOptions, JOB_TEXT_NAMES, RUN_OPTION_NAMES, RUN_OPTIONS, type RunOption } from '@millrace/core'
import type { JobRequest } from '@millrace/worker'
import type { Job } from './view.ts'

/**
 * Returns a job with the data, the tags and the options of another. Its options are those in force for it, whoever has stated them. It has
 * no key, schedule, flow and `ttl`, and is due at once. Its `meta.copyOf` is the id of the other.
 */
export function copyOf(job: Job): JobRequest {
  if (job.undecoded?.includes('data') === true) throw new CodecError(`the data of job ${job.id} cannot be decoded here`)
  const known = job as unknown as Readonly<Record<string, unknown>>
  const given = [...RUN_OPTION_NAMES.filter((name) => isOption(name, known[name])), ...JOB_TEXT_NAMES, 'tags'].filter(
    (name) => known[name] !== undefined,
  )
  const options: EnqueueOptions = {
    ...Object.fromEntries(given.map((name) => [name, known[name]])),
    meta: { ...(isObject(job.meta) ? job.meta : { meta: job.meta }), copyOf: job.id },
  }
  return { job: job.name, data: job.data, options }
}

/** Most options say no limit by their absence. */
function isOption(name: RunOption, value: unknown): boolean {
  return value !== Number.POSITIVE_INFINITY || 'endless' in RUN_OPTIONS[name].kind
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

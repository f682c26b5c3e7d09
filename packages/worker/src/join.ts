/** Jobs that a run creates and waits for: checked where the handler runs, and sent as the end of the run. */
import {
  checkCommandSize,
  checkItemKeys,
  describe,
  encodeData,
  itemName,
  LIMITS,
  type NewJob,
  nameOption,
  newJobFrom,
  OptionRangeError,
  OptionTypeError,
  weighJobs,
} from '@millrace/core'
import type { JobOrName, JobRequest } from './jobType.ts'
import { checkSchema } from './schema.ts'

/** Jobs that a handler joins, or a function that returns them. */
export type JobsToJoin<Job extends JobOrName = JobOrName> =
  | readonly JobRequest<Job>[]
  | (() => readonly JobRequest<Job>[] | Promise<readonly JobRequest<Job>[]>)

/** Ends the handler of a run whose job waits for others. */
export class JoinSignal extends Error {
  override readonly name = 'JoinSignal'
  readonly group: string
  readonly jobs: readonly NewJob[]
  constructor(group: string, jobs: readonly NewJob[]) {
    super(`the job waits for the jobs that it has joined as '${group}'`)
    this.group = group
    this.jobs = jobs
  }
}

/** @throws OptionTypeError, OptionRangeError */
export function assertJoinable(
  requests: readonly JobRequest[],
  joined: readonly { readonly place: number; readonly jobs: number }[],
): void {
  if (!Array.isArray(requests))
    throw new OptionTypeError(
      'join',
      `join takes an array of { job, data, options }, or a function that returns one, got ${describe(requests)}`,
    )
  if (joined.length >= LIMITS.joinsPerJob) {
    const message = `a job joins at most ${LIMITS.joinsPerJob} groups of jobs: let one of the joined jobs join the others`
    throw new OptionRangeError('join', LIMITS.joinsPerJob, message)
  }
  const last = joined.at(-1)
  const before = last === undefined ? 0 : last.place + last.jobs - 1
  if (before + requests.length > LIMITS.edgesPerFlow) {
    const message = `a job waits for at most ${LIMITS.edgesPerFlow} others in all, and this would be ${before + requests.length}: let one of the joined jobs join the others`
    throw new OptionRangeError('join', LIMITS.edgesPerFlow, message)
  }
  checkCommandSize('join', requests.length, 0)
}

/** Returns the jobs with their data checked and encoded. @throws OptionTypeError, OptionRangeError, ValidationError */
export async function jobsToJoin(requests: readonly JobRequest[], maxDataBytes: number): Promise<readonly NewJob[]> {
  const jobs: NewJob[] = []
  for (const [index, request] of requests.entries()) jobs.push(await jobToJoin(request, index, maxDataBytes))
  checkCommandSize('join', jobs.length, weighJobs(jobs))
  return jobs
}

async function jobToJoin(request: JobRequest, index: number, maxDataBytes: number): Promise<NewJob> {
  const place = itemName('join', index)
  if (typeof request !== 'object' || request === null || request.job === undefined)
    throw new OptionTypeError(place, `${place} must be { job, data, options }, got ${describe(request)}`)
  checkItemKeys(request, 'join', index)
  const { job, data, options } = request
  const definition = typeof job === 'string' ? undefined : job
  const name = definition?.name ?? nameOption('name', job)
  if (definition?.schema !== undefined) await checkSchema(definition.schema, name, data)
  const wanted = newJobFrom(name, encodeData('data', data, maxDataBytes), options, definition?.defaults)
  const key = (['idempotencyKey', 'unique', 'debounce', 'throttle'] as const).find((field) => wanted[field] !== undefined)
  if (key === undefined) return wanted
  throw new OptionTypeError(key, `${place} has the option ${key}, which may stand for an earlier job: the jobs of a join are always new`)
}

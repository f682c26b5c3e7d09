/** What callers ask to be enqueued, checked and encoded. */
import { type EnqueueOptions, encodeData, type NewJob, nameOption, newJobFrom, OptionTypeError } from '@millrace/core'
import { checkSchema, type JobType } from '@millrace/worker'

/** One item of `enqueueMany`. */
export interface JobRequest {
  readonly job: JobType | string
  readonly data?: unknown
  readonly options?: EnqueueOptions
}

/** An item as it is given, in JavaScript perhaps; `index`: of an array. Its name is made for the error alone: there may be many items. */
export function itemOf(request: JobRequest, place: string, index?: number): JobRequest {
  if (typeof request === 'object' && request !== null) return request
  const option = index === undefined ? place : `${place}[${index}]`
  throw new OptionTypeError(option, `${option} is { job, data, options }, not ${request === null ? 'null' : typeof request}`)
}

/** A promise only where the definition's schema is asynchronous. */
export function newJobOf(
  job: JobType | string,
  data: unknown,
  options: EnqueueOptions | undefined,
  maxDataBytes: number,
): NewJob | Promise<NewJob> {
  if (typeof job === 'string') return newJobFrom(nameOption('name', job), encodeData('data', data, maxDataBytes), options, undefined)
  if (typeof job?.name !== 'string') throw new OptionTypeError('job', 'a job is named by its definition (defineJob) or by its name')
  const { name, defaults, schema } = job
  const make = () => newJobFrom(name, encodeData('data', data, maxDataBytes), options, defaults)
  if (schema === undefined) return make()
  const checked = checkSchema(schema, name, data)
  return checked instanceof Promise ? checked.then(make) : make()
}

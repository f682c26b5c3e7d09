/** Checks and encodes the jobs that callers enqueue. */
import {
  checkItemKeys,
  describe,
  type EnqueueOptions,
  encodeData,
  ITEM_KEYS,
  itemName,
  type NewJob,
  nameOption,
  newJobFrom,
  OptionTypeError,
  optionHint,
} from '@millrace/core'
import { checkSchema, type JobRequest, type JobType } from '@millrace/worker'

/**
 * Checks an item, perhaps from JavaScript; `index` is its place in an array. Its name is built only for an error: there
 * may be many items.
 */
export function itemOf(request: JobRequest, place: string, index?: number): JobRequest {
  if (typeof request === 'object' && request !== null) {
    if (request.job === undefined) throw withoutJob(request, itemName(place, index))
    checkItemKeys(request, place, index)
    return request
  }
  const option = itemName(place, index)
  throw new OptionTypeError(option, `${option} must be { job, data, options }, got ${request === null ? 'null' : typeof request}`)
}

function withoutJob(request: object, option: string): OptionTypeError {
  const unknown = Object.keys(request).find((key) => !ITEM_KEYS.has(key))
  const hint = unknown === undefined ? undefined : optionHint(unknown, ITEM_KEYS)
  return new OptionTypeError(
    `${option}.job`,
    `${option} has no job: an item is { job, data, options }${hint === undefined ? '' : `; ${describe(unknown)}: ${hint}`}`,
  )
}

/** Returns the error for a value in place of a definition or a name. */
function unnamed(job: unknown): OptionTypeError {
  const fields = typeof job === 'object' && job !== null ? job : {}
  const given =
    'definition' in fields
      ? ': this is a handler, give the definition that it was made of'
      : 'job' in fields
        ? ": give job, data and options one after the other: enqueue('mail', data, options); enqueueMany takes an array of { job, data, options }"
        : `, not ${describe(job)}`
  return new OptionTypeError('job', `a job is named by its definition (defineJob) or by its name${given}`)
}

/** Returns a promise only if the definition's schema is asynchronous. */
export function newJobOf(
  job: JobType | string,
  data: unknown,
  options: EnqueueOptions | undefined,
  maxDataBytes: number,
): NewJob | Promise<NewJob> {
  if (typeof job === 'string') return newJobFrom(nameOption('name', job), encodeData('data', data, maxDataBytes), options, undefined)
  if (typeof job?.name !== 'string') throw unnamed(job)
  const { name, defaults, schema } = job
  const make = () => newJobFrom(name, encodeData('data', data, maxDataBytes), options, defaults)
  if (schema === undefined) return make()
  const checked = checkSchema(schema, name, data)
  return checked instanceof Promise ? checked.then(make) : make()
}

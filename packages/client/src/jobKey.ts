/** What callers name jobs and files by. */
import { type JobKey, JobNotFoundError, OptionTypeError, parseId } from '@millrace/core'

export function keyOf(id: string): JobKey {
  const key = parseId(textOf(id))
  if (key === undefined) throw new JobNotFoundError(`there is no job ${id}: that is no id of a job`, { jobId: id })
  return key
}

export function textOf(value: string, option = 'id'): string {
  if (typeof value !== 'string' || value.length === 0) throw new OptionTypeError(option, `${option} takes a text, not ${typeof value}`)
  return value
}

/** Checks the ids of jobs and the names of files that callers pass. */
import { describe, type JobKey, JobNotFoundError, OptionTypeError, parseId } from '@millrace/core'

export function keyOf(id: string): JobKey {
  const key = parseId(textOf(id))
  if (key === undefined) throw new JobNotFoundError(`there is no job ${id}: that is no id of a job`, { jobId: id })
  return key
}

export function textOf(value: string, option = 'id'): string {
  if (typeof value === 'string' && value.length > 0) return value
  if (value === '') throw new OptionTypeError(option, `${option} is empty: give a string of at least one character`)
  const hint = typeof (value as { id?: unknown } | null)?.id === 'string' ? ': pass its id, as in handle.id' : ''
  throw new OptionTypeError(option, `${option} must be a string, got ${describe(value)}${hint}`)
}

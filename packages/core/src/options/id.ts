/** Options that name a job. */
import { OptionTypeError } from '../errors.ts'
import { type JobKey, parseId } from '../id.ts'
import { describe } from './describe.ts'

export function idOption(option: string, id: unknown): JobKey {
  const key = typeof id === 'string' ? parseId(id) : undefined
  if (key === undefined) throw new OptionTypeError(option, `${option} must be the id of a job, got ${describe(id)}`)
  return key
}

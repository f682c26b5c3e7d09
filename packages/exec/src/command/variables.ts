/** Environment variables that describe the job to its command. */
import type { JobInfo } from '@millrace/worker'
import { badArgs } from '../errors.ts'
import { ARGUMENT_BYTES } from './bounds.ts'
import { plainText } from './template.ts'

const KEY = /^[A-Za-z][A-Za-z0-9_]{0,63}$/

export function jobVariables({ id, name, queue, attempt, run }: JobInfo): Record<string, string> {
  return { JOB_ID: id, JOB_NAME: name, JOB_QUEUE: queue, JOB_ATTEMPT: String(attempt), JOB_RUN: String(run) }
}

/**
 * Returns `JOB_DATA_<KEY>` for each key of letters, digits and `_` whose value is a string, a number or a boolean. Omits
 * others.
 *
 * @throws NonRetryableError whose cause is a BadArgsError
 */
export function dataVariables(data: unknown): Record<string, string> {
  const variables: Record<string, string> = {}
  if (typeof data !== 'object' || data === null || Array.isArray(data) || data instanceof Uint8Array) return variables
  for (const [key, value] of Object.entries(data)) {
    if (!KEY.test(key) || (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')) continue
    const name = `JOB_DATA_${key.toUpperCase()}`
    if (Object.hasOwn(variables, name)) throw badArgs(`the job's data has two keys for the variable ${name}: rename one`, key)
    const text = plainText(key, value)
    if (Buffer.byteLength(text) + name.length + 1 > ARGUMENT_BYTES) {
      throw badArgs(
        `the field '${key}' has more than the ${ARGUMENT_BYTES} bytes of a variable: say variables: false, and hand it over by stdin`,
        key,
      )
    }
    variables[name] = text
  }
  return variables
}

/** The errors of runs in their columns. */
import type { RunError } from '@millrace/core'

export type RawError = [name: string, message: string, stack: string | null, code: string | null, cause: string | null]

/** The columns of `attempt`, in the order of `RawError`. */
export const ERROR_COLUMNS = 'error_name, error_message, error_stack, error_code, error_cause'

export function errorFrom([name, message, stack, code, cause]: RawError): RunError {
  const causes = causesFrom(cause)
  return {
    name,
    message,
    ...(stack !== null && { stack }),
    ...(code !== null && { code }),
    ...(causes !== undefined && { cause: causes }),
  }
}

/** Returns the values of `ERROR_COLUMNS`. An empty name stands for a run that has not failed: every failed run has a name. */
export function errorValues(error: RunError | undefined): RawError {
  const { message = '', stack = null, code = null, cause } = error ?? {}
  const causes = cause === undefined || cause.length === 0 ? null : JSON.stringify(cause)
  return [error === undefined ? '' : error.name || 'Error', message, stack, code, causes]
}

/** Returns undefined if the stored causes are broken, as if there were none: they must not hide other runs. */
function causesFrom(text: string | null): RunError['cause'] {
  if (text === null) return undefined
  try {
    return JSON.parse(text) as RunError['cause']
  } catch {
    return undefined
  }
}

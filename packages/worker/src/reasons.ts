/** Returns the error that a run's signal aborts with. */
import { type AbortCause, formatId, type Grant, JobCancelledError, JobTimeoutError, WorkerStoppedError } from '@millrace/core'

export function reasonOf(cause: AbortCause, grant: Grant): Error {
  if (cause === 'timeout') return new JobTimeoutError(`the attempt has reached its deadline (timeout ${grant.timeout} ms)`)
  if (cause === 'cancel') return new JobCancelledError('the job was cancelled', { jobId: formatId(grant) })
  return new WorkerStoppedError('the worker is stopping: the job is given back')
}

/** The errors that a run's signal aborts with. */
import {
  type AbortCause,
  formatId,
  type Grant,
  JobCancelledError,
  JobTimeoutError,
  LeaseLostError,
  WorkerStoppedError,
} from '@millrace/core'

export function reasonOf(cause: AbortCause, grant: Grant): Error {
  if (cause === 'timeout') return new JobTimeoutError(`the attempt has reached its deadline (timeout ${grant.timeout} ms)`)
  if (cause === 'cancel') return new JobCancelledError('the job was cancelled', { jobId: formatId(grant) })
  return new WorkerStoppedError('the worker is stopping: the job is given back')
}

export function lost(): LeaseLostError {
  return new LeaseLostError("the run is no longer this worker's: nothing that it says counts")
}

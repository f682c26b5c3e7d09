/** The errors that a run's signal aborts with. */
import {
  type AbortCause,
  type Cancellation,
  formatId,
  type Grant,
  JobCancelledError,
  JobTimeoutError,
  LeaseLostError,
  WorkerStoppedError,
} from '@millrace/core'

export function reasonOf(cause: AbortCause, grant: Grant, { reason, by }: Cancellation = {}): Error {
  if (cause === 'timeout') return new JobTimeoutError(`the attempt has reached its deadline (timeout ${grant.timeout} ms)`)
  if (cause === 'cancel') {
    const message = `the job was cancelled${reason === undefined ? '' : `: ${reason}`}`
    return new JobCancelledError(message, {
      jobId: formatId(grant),
      ...(reason !== undefined && { reason }),
      ...(by !== undefined && { by }),
    })
  }
  return new WorkerStoppedError('the worker is stopping: the job is given back')
}

export function lost(): LeaseLostError {
  return new LeaseLostError("the run is no longer this worker's: nothing that it says counts")
}

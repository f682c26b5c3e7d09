/** Reads the job with an id, which must exist. */
import { retryLost } from '@millrace/client'
import { JobNotFoundError, rowOfShortId, shortened } from '@millrace/core'
import type { Engine, GetOptions, Job, JobExplanation } from '@millrace/engine'

/** @throws JobNotFoundError */
export async function jobOf(engine: Engine, id: string, options?: GetOptions): Promise<Job> {
  const job = await retryLost(() => engine.get(id, options))
  if (job === undefined) throw noJob(id)
  return job
}

/** @throws JobNotFoundError */
export async function explanationOf(engine: Engine, id: string): Promise<JobExplanation> {
  const explanation = await retryLost(() => engine.explain(id))
  if (explanation === undefined) throw noJob(id)
  return explanation
}

/** Returns the whole id of a short one: changes take no other. @throws JobNotFoundError */
export async function wholeId(engine: Engine, id: string): Promise<string> {
  return rowOfShortId(id) === undefined ? id : (await jobOf(engine, id, { payload: 'none' })).id
}

export function noJob(id: string): JobNotFoundError {
  return new JobNotFoundError(`there is no job ${shortened(id)}: it never existed, or retention has deleted it`, { jobId: id })
}

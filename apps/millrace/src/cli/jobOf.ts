/** Returns the job with an id, which must exist. */
import { JobNotFoundError } from '@millrace/core'
import type { Engine, GetOptions, Job } from '@millrace/engine'
import { again } from './again.ts'

/** @throws JobNotFoundError */
export async function jobOf(engine: Engine, id: string, options?: GetOptions): Promise<Job> {
  const job = await again(() => engine.get(id, options))
  if (job === undefined) throw new JobNotFoundError(`there is no job ${id}: it never existed, or retention has deleted it`, { jobId: id })
  return job
}

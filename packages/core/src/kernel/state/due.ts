/** The due time of a job: the one place that moves it. */

import type { Job } from '../records/job.ts'
import type { Effects } from './effects.ts'

/** Sets the due time. The one of the first run stays with the job. This turn writes the row. */
export function setDue({ effects }: { readonly effects: Pick<Effects, 'changeExtras'> }, job: Job, runAt: number): void {
  if (job.run > 0 && job.runAt !== runAt && job.extras?.due === undefined) effects.changeExtras(job, { ...job.extras, due: job.runAt })
  job.runAt = runAt
}

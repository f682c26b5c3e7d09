/** Accepts new jobs in the engine's place, and passes them on when it can. */
import type { Command, Enqueued, Forwarded, JobKey, NewJob, Refusal } from '@millrace/core'

export interface EnqueueSink {
  /** Called once, with the function that calls the engine. */
  start(call: (command: Command & { readonly op: 'forward' }) => Promise<Forwarded>): void
  /** Resolves when the jobs are safe: all or none. */
  append(jobs: readonly NewJob[]): Promise<readonly Enqueued[]>
  /** Resolves to the job as the engine knows it, once it does; this may be an earlier job. Rejects if the engine has refused it. */
  settled(job: JobKey): Promise<JobKey>
  /** Resolves when the engine has all accepted jobs, or takes no more of them for now. */
  forwarded(): Promise<void>
  /** Makes later calls reject, with `reason` if there is one. Jobs that the engine does not have yet are kept for the next process. */
  close(reason?: Refusal): Promise<void>
}

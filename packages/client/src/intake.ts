/** What takes new jobs in the engine's place, and passes them on when it can. */
import type { Command, Enqueued, Forwarded, JobKey, NewJob, Refusal } from '@millrace/core'

export interface Intake {
  /** Called once, with the way to the engine. */
  start(call: (command: Command & { readonly op: 'forward' }) => Promise<Forwarded>): void
  /** Resolves when the jobs are safe: all or none. */
  append(jobs: readonly NewJob[]): Promise<readonly Enqueued[]>
  /** The job as the engine knows it, once it does: perhaps an earlier one. Rejects where the engine has refused it. */
  settled(job: JobKey): Promise<JobKey>
  /** Resolves when the engine has all that was taken, or takes no more of it for now. */
  forwarded(): Promise<void>
  /** Later calls reject, with `reason` where there is one. What the engine does not have yet is kept for the next process. */
  close(reason?: Refusal): Promise<void>
}

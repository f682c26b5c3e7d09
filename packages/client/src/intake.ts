/** What takes new jobs in the engine's place, and passes them on when it can. */
import type { Command, Enqueued, Forwarded, JobKey, NewJob } from '@millrace/core'

export interface Intake {
  /** Called once, with the way to the engine. */
  start(call: (command: Command & { readonly op: 'forward' }) => Promise<Forwarded>): void
  /** Resolves when the jobs are safe: all or none. */
  append(jobs: readonly NewJob[]): Promise<readonly Enqueued[]>
  /** The job as the engine knows it, once it does: perhaps an earlier one. Rejects where the engine has refused it. */
  settled(job: JobKey): Promise<JobKey>
  /** Resolves when the engine has all that was taken. */
  forwarded(): Promise<void>
  close(): Promise<void>
}

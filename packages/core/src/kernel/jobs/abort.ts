/** Aborts a run. */
import type { AbortCause } from '../../job.ts'
import { LIMITS } from '../../limits.ts'
import type { Job } from '../records/job.ts'
import type { NoticeNote } from '../state/effects.ts'
import type { TurnContext } from '../state/turnContext.ts'

/** Asks the run's session to stop it. The job keeps its state and its slots until it settles or the grace period ends. */
export function abort({ tables, effects, now }: TurnContext, job: Job, cause: AbortCause): void {
  job.abort = cause
  const { session } = job
  const graceEndMono = now.mono + (session?.intro.abortGrace ?? LIMITS.reattachGraceMs)
  // A missing session is waited for no longer than without the abort.
  const earlier = session === undefined && job.deadlinePlace >= 0
  tables.setDeadline(job, earlier ? Math.min(job.deadlineMono, graceEndMono) : graceEndMono)
  if (session !== undefined) effects.notices.push({ session, job, run: job.run, note: abortNote(job, cause) })
}

/** Returns the notice for the session. A cancel says why, and by whom. */
export function abortNote({ extras }: Job, cause: AbortCause): NoticeNote {
  return { kind: 'abort', cause, ...(cause === 'cancel' && extras?.cancel) }
}

/** The state of a job as people look for it. */
import type { JobAnswer } from '../api/answers.ts'
import type { STATES } from '../text.ts'

/** A scheduled job that has failed before waits for its next attempt. */
export function shownState({ state, attempt }: Pick<JobAnswer, 'state' | 'attempt'>): keyof typeof STATES {
  return state === 'scheduled' && attempt > 0 ? 'retrying' : state
}

/** The changes that a job allows in its state. */
import type { Action } from '../actions/act.ts'
import type { JobAnswer } from '../api/answers.ts'
import { JOB_TEXT as text } from './text.ts'

export type JobWord = 'retry' | 'run' | 'cancel' | 'delete'

/** How an action begins: what cannot be undone asks each time, and a key that may be hit by accident asks if it takes something away. */
export const ASKS: Readonly<Record<JobWord, 'never' | 'by key' | 'always'>> = {
  retry: 'never',
  run: 'never',
  cancel: 'by key',
  delete: 'always',
}

/** Keys of actions. What cannot be undone has none. */
export const KEYS: Readonly<Partial<Record<JobWord, string>>> = { retry: 'r', cancel: 'c' }

export interface JobAction {
  readonly word: JobWord
  readonly label: string
  readonly action: Action
}

type Known = Pick<JobAnswer, 'id' | 'name' | 'state' | 'attempt' | 'cancelRequested'>

/** Returns them with the one that is wanted most often first. */
export function actionsOf(job: Known): readonly JobAction[] {
  return wordsOf(job).map((word) => ({ word, label: labelOf(word, job), action: actionOf(word, job) }))
}

function wordsOf({ state, attempt, cancelRequested }: Known): readonly JobWord[] {
  switch (state) {
    case 'failed':
    case 'cancelled':
      return ['retry', 'delete']
    case 'scheduled':
      return [attempt > 0 ? 'retry' : 'run', 'cancel', 'delete']
    case 'active':
      return cancelRequested ? [] : ['cancel']
    case 'completed':
      return ['delete']
    default:
      return ['cancel', 'delete']
  }
}

function labelOf(word: JobWord, { state }: Known): string {
  return word === 'retry' && state === 'scheduled' ? text.actions.retryNow : text.actions[word]
}

function actionOf(word: JobWord, { id, name }: Known): Action {
  const path = `/v1/jobs/${encodeURIComponent(id)}`
  const done = text.done[word](name)
  return word === 'delete' ? { method: 'DELETE', path, done } : { path: `${path}/${word}`, done }
}

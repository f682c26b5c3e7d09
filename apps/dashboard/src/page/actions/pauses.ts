/** Pauses of a queue, of a job name in it, or of a key in it. */
import { TEXT } from '../text.ts'
import type { Action } from './act.ts'

export type PauseWord = 'pause' | 'resume'

/** The part of the queue that is paused. Without one it is all of it. */
interface Within {
  readonly job?: string
  readonly key?: string
}

export function pause(word: PauseWord, queue: string, within: Within = {}): Action {
  const { job, key } = within
  const what = job === undefined ? TEXT.actions.queue(queue) : `${job} in ${queue}`
  return {
    path: `/v1/queues/${encodeURIComponent(queue)}/${word}`,
    body: within,
    done: TEXT.actions.pauses[word](key === undefined ? what : TEXT.actions.key(key, queue)),
  }
}

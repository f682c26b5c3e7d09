/** Pauses of a queue, of a job name in it, and of a key in it. */
import type { Action } from '../../actions/act.ts'
import { TEXT } from '../../text.ts'
import { text } from './text.ts'

export type PauseWord = 'pause' | 'resume'

const pathOf = (queue: string, word: string) => `/v1/queues/${encodeURIComponent(queue)}/${word}`

export function pauseQueue(queue: string, word: PauseWord): Action {
  return { path: pathOf(queue, word), done: word === 'pause' ? TEXT.actions.paused(queue) : TEXT.actions.resumed(queue) }
}

export function pauseName(queue: string, job: string, word: PauseWord): Action {
  return { path: pathOf(queue, word), body: { job }, done: text.names.done[word](job, queue) }
}

export function pauseKey(queue: string, key: string, word: PauseWord): Action {
  return { path: pathOf(queue, word), body: { key }, done: text.keys.done[word](key, queue) }
}

export const PAUSE_ALL: Action = { path: '/v1/engine/pause', done: text.all.done }
export const RESUME_ALL: Action = { path: '/v1/engine/resume', done: TEXT.actions.allResumed }

export function drain(queue: string): Action {
  return { path: pathOf(queue, 'drain'), body: {}, done: text.draining.done(queue) }
}

export function forget(queue: string): Action {
  return { method: 'DELETE', path: `/v1/queues/${encodeURIComponent(queue)}`, done: text.forgetting.done(queue) }
}

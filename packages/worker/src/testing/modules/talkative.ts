/** A handler that sends messages of its own to the thread that has started its thread, as a library in it may. */
import { parentPort } from 'node:worker_threads'

export function handler(): string {
  for (const message of ['a word', null, { value: 'not the outcome' }, { error: 'no error' }]) parentPort?.postMessage(message)
  return 'the outcome'
}

// A handler for a thread or a child process, which imports the engine too.

import { isMainThread } from 'node:worker_threads'
import { NonRetryableError } from '@millrace/engine'

export function handler({ data }) {
  if (typeof data !== 'number') throw new NonRetryableError('not a number')
  return `${isMainThread ? 'process' : 'thread'}: ${data * 2}`
}

// A handler for a thread or a child process, which imports the engine too.

import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { NonRetryableError } from '@millrace/engine'

const place = isMainThread ? 'process' : 'thread'

export function handler({ data }) {
  if (typeof data !== 'number') throw new NonRetryableError('not a number')
  return `${place}: ${data * 2}`
}

export function teardown() {
  appendFileSync('torn-down.txt', `${place}\n`)
}

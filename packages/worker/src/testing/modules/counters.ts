/** Numbers that a test and the threads of its handlers share. */
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'

export const SETUPS = 0
export const TEARDOWNS = 1
export const STARTS = 2
/** Set by the test when what `loading.ts` waits for is there. */
export const LOADABLE = 3

const KEY = 'millrace.test.counters'

/** Called by the test: threads that start from now on count here. */
export function newCounters(): Int32Array {
  const counters = new Int32Array(new SharedArrayBuffer(16))
  setEnvironmentData(KEY, counters)
  return counters
}

export function counters(): Int32Array {
  return getEnvironmentData(KEY) as unknown as Int32Array
}

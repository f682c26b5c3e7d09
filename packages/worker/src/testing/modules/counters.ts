/** Numbers that a test and the threads of its handlers share. */
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'

export const SETUPS = 0
export const TEARDOWNS = 1
export const STARTS = 2
/** Set by the test when `loading.ts` may be loaded. */
export const LOADABLE = 3
/** Set by the test when a thread whose handler has returned may end itself. */
export const MAY_EXIT = 4

const KEY = 'millrace.test.counters'

/** Creates counters for a test: threads that start later count here. */
export function newCounters(): Int32Array {
  const counters = new Int32Array(new SharedArrayBuffer(5 * Int32Array.BYTES_PER_ELEMENT))
  setEnvironmentData(KEY, counters)
  return counters
}

export function counters(): Int32Array {
  return getEnvironmentData(KEY) as unknown as Int32Array
}

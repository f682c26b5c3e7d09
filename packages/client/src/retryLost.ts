/** Repeats calls if the engine changes hands in between, because the owner of a shared file may be another short command. */
import { isErrorOf } from '@millrace/core'
import { ASKED_AGAIN } from './handle.ts'

const TIMES = 20

/** Repeats a call whose result was lost. Use it only for calls that may happen twice: queries, and those with an idempotency key. */
export async function retryLost<T>(call: () => Promise<T>): Promise<T> {
  for (let time = 1; ; time++) {
    try {
      return await call()
    } catch (error) {
      if (!isErrorOf(error, 'MillraceError') || !ASKED_AGAIN.has(error.code) || time === TIMES) throw error
    }
  }
}

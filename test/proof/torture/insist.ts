/** A call of unknown or no outcome is made again, under its key, until it is known to have happened: what every client can do. */
import { setTimeout as delay } from 'node:timers/promises'
import { MillraceError } from '@millrace/core'

const PAUSE_MS = 20

/** @throws what is not retryable */
export async function insist<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof MillraceError && error.retryable)) throw error
      await delay(PAUSE_MS)
    }
  }
}

/** What a client sends, and how long it has for it: one that sends a byte now and then holds nothing here. */
import type { Clock } from '@millrace/core'
import { HttpError } from '../errors.ts'
import { BOUNDS } from '../limits.ts'

/** @throws HttpError 408 */
export function inTime<Read>(reading: Promise<Read>, clock: Clock): Promise<Read> {
  return new Promise((resolve, reject) => {
    const cancel = clock.setTimer(BOUNDS.bodyMs, () => reject(tooSlow()))
    reading.then(
      (read) => {
        cancel()
        resolve(read)
      },
      (error) => {
        cancel()
        reject(error)
      },
    )
  })
}

function tooSlow(): HttpError {
  // The rest of the body may never come: the connection is of no more use.
  return new HttpError(
    408,
    'TOO_SLOW',
    `nothing of the body has come for ${BOUNDS.bodyMs} ms, or not all of it`,
    {},
    { connection: 'close' },
  )
}

/** Limits the time for input of a client, so that one that sends a byte now and then holds nothing here. */
import type { Clock } from '@millrace/core'
import { HttpError } from '../errors.ts'
import type { HttpSettings } from '../options.ts'

/** The time limit, and the clock that measures it. */
export interface Patience {
  readonly settings: HttpSettings
  readonly clock: Clock
}

/** @throws HttpError 408 */
export function inTime<Read>(reading: Promise<Read>, { settings: { bodyTimeoutMs }, clock }: Patience): Promise<Read> {
  return new Promise((resolve, reject) => {
    const cancel = clock.setTimer(bodyTimeoutMs, () => reject(tooSlow(bodyTimeoutMs)))
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

function tooSlow(limit: number): HttpError {
  // The rest of the body may never come, so the connection is of no more use.
  return new HttpError(
    'TOO_SLOW',
    `nothing of the body has come for ${limit} ms, or not all of it: send it faster, or raise bodyTimeout`,
    { option: 'bodyTimeout', limit },
    { connection: 'close' },
  )
}

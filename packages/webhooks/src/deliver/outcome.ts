/** Maps the status of an answer to the outcome of the job. */
import { RetryAfterError } from '@millrace/core'
import { DeliveryFailedError, DeliveryRejectedError, WebhookGoneError } from '../errors.ts'

const RETRY_AFTER_MAX_MS = 86_400_000
/** The number of characters of the answer's body that the error message shows. */
const HEAD_LENGTH = 512

export interface Answer {
  readonly status: number
  readonly body: string
  readonly retryAfter: string | undefined
  /** The host of the URL without its path, which may be a secret. */
  readonly host: string
}

/** Returns the error that the answer stands for, or undefined if the receiver accepted the delivery. */
export function failureOf({ status, body, retryAfter, host }: Answer, now: number): Error | undefined {
  if (status >= 200 && status < 300) return undefined
  const head = body.length > HEAD_LENGTH ? `${body.slice(0, HEAD_LENGTH)}…` : body
  const message = `${host} answered ${status}${head === '' ? '' : `: ${head}`}`
  if (status === 410) return new WebhookGoneError(message)
  if (status >= 500 || status === 408 || status === 425 || status === 429) {
    const delay = retryAfterMs(retryAfter, now)
    if (delay === undefined) return new DeliveryFailedError(message, { status })
    // A receiver may ask for more time than the backoff gives, but not for more attempts.
    return Object.assign(new RetryAfterError(delay, message), { atLeast: true })
  }
  if (status < 400) return new DeliveryRejectedError(`${message} (redirects are not followed: give the URL that it leads to)`, status)
  return new DeliveryRejectedError(message, status)
}

/** Parses `Retry-After`, in seconds or as a date, into 0 to 24 h in milliseconds. Returns undefined if it is neither. */
export function retryAfterMs(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined
  const text = value.trim()
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : dateMs(text) - now
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), RETRY_AFTER_MAX_MS)
}

/** Parses a date as HTTP writes it. Returns NaN for anything else that `Date.parse` might accept. */
function dateMs(text: string): number {
  return /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d{2}:\d{2}:\d{2}/.test(text) ? Date.parse(text) : Number.NaN
}

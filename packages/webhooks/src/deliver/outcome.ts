/** What the status of an answer means for the job. */
import { RetryAfterError } from '@millrace/core'
import { DeliveryFailedError, DeliveryRejectedError, WebhookGoneError } from '../errors.ts'

const RETRY_AFTER_MIN_MS = 1_000
const RETRY_AFTER_MAX_MS = 86_400_000
/** Of the answer's body, in the error's message. */
const HEAD_LENGTH = 512

export interface Answer {
  readonly status: number
  readonly body: string
  readonly retryAfter: string | undefined
  /** Of the URL: its path may be a secret. */
  readonly host: string
}

/** The error that the answer is; undefined for one that was taken. */
export function failureOf({ status, body, retryAfter, host }: Answer, now: number): Error | undefined {
  if (status >= 200 && status < 300) return undefined
  const head = body.length > HEAD_LENGTH ? `${body.slice(0, HEAD_LENGTH)}…` : body
  const message = `${host} answered ${status}${head === '' ? '' : `: ${head}`}`
  if (status === 410) return new WebhookGoneError(message)
  if (status >= 500 || status === 408 || status === 425 || status === 429) {
    const delay = retryAfterMs(retryAfter, now)
    return delay === undefined ? new DeliveryFailedError(message, { status }) : new RetryAfterError(delay, message)
  }
  if (status < 400) return new DeliveryRejectedError(`${message} (redirects are not followed: give the URL that it leads to)`, status)
  return new DeliveryRejectedError(message, status)
}

/** `Retry-After` in seconds or as a date, from 1 s to 24 h; undefined where it is neither. */
export function retryAfterMs(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined
  const text = value.trim()
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : dateMs(text) - now
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, RETRY_AFTER_MIN_MS), RETRY_AFTER_MAX_MS)
}

/** A date as HTTP writes it; nothing else that happens to be read as one. */
function dateMs(text: string): number {
  return /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d{2}:\d{2}:\d{2}/.test(text) ? Date.parse(text) : Number.NaN
}

/** Errors that only the HTTP API has. All others are in the core's catalogue. */
import { MillraceError } from '@millrace/core'

/** One fault of a request: its place and its description. */
export interface Fault {
  /** The place of the fault: `body.options.delay`, `query.limit`. */
  readonly path: string
  readonly message: string
}

/** Details that are shown beside the message. */
export interface HttpErrorDetails {
  readonly option?: string
  readonly limit?: number | string
  readonly queue?: string
  readonly jobs?: number
  /** Milliseconds. */
  readonly retryAfter?: number
  readonly errors?: readonly Fault[]
  /** The counts of an import when it ended. */
  readonly progress?: unknown
}

/** An error with a status of its own. */
export class HttpError extends MillraceError {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    code: string,
    message: string,
    details: HttpErrorDetails = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(code, status === 408 || status === 429 || status === 503, message, { ...details })
    this.status = status
    this.headers = headers
  }
}

export function invalid(message: string, errors: readonly Fault[]): HttpError {
  const option = errors[0]?.path
  return new HttpError(400, 'VALIDATION', message, { errors, ...(option !== undefined && { option }) })
}

export function rateLimited(message: string, retryAfterMs: number): HttpError {
  return new HttpError(429, 'RATE_LIMITED', message, { retryAfter: Math.ceil(retryAfterMs) })
}

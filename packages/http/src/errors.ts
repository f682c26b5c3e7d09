/** Errors that only the HTTP API has. All others are in the core's catalogue. */
import { type ErrorCategory, type ErrorCode, errorFrom, MillraceError } from '@millrace/core'

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

/** The statuses of errors. A status of 500 shows nothing but an id. */
export const STATUS: Readonly<Record<ErrorCategory, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  conflict: 409,
  'too-large': 413,
  unsupported: 501,
  unavailable: 503,
  disconnected: 503,
  'no-space': 507,
  incompatible: 500,
  interrupted: 500,
  failure: 500,
}

/** The codes of errors of the stores that the application gives, which may be of any class. */
const OF_STORES = { TOKEN_EXISTS: 409, TOKEN_NOT_FOUND: 404, ENDPOINT_NOT_FOUND: 404 } as const

/** The codes that only the API has, and those that mean something else here: an undecodable payload is what the request names. */
const OWN = {
  ...OF_STORES,
  MALFORMED: 400,
  INCOMPLETE: 400,
  FORBIDDEN_KEY: 400,
  CROSS_SITE: 403,
  HOST_NOT_ALLOWED: 403,
  NOT_FOUND: 404,
  FLOW_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  TOO_SLOW: 408,
  CODEC: 409,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
} as const

/** The status of an error of a store that the application gives, by its code; undefined if the code is none of theirs. */
export function statusOfStore(code: string): number | undefined {
  return Object.hasOwn(OF_STORES, code) ? OF_STORES[code as keyof typeof OF_STORES] : undefined
}

const RETRYABLE: ReadonlySet<number> = new Set([408, 429, 503])

/** An error that the API itself raises. Its code says its status. */
export class HttpError extends MillraceError {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: keyof typeof OWN | ErrorCode,
    message: string,
    details: HttpErrorDetails = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    const status = code in OWN ? OWN[code as keyof typeof OWN] : STATUS[errorFrom({ code: code as ErrorCode, message }).category]
    super(code, RETRYABLE.has(status), message, { ...details })
    this.status = status
    this.headers = headers
  }
}

export function invalid(message: string, errors: readonly Fault[]): HttpError {
  const option = errors[0]?.path
  return new HttpError('VALIDATION', message, { errors, ...(option !== undefined && { option }) })
}

export function rateLimited(message: string, retryAfterMs: number): HttpError {
  return new HttpError('RATE_LIMITED', message, { retryAfter: Math.ceil(retryAfterMs) })
}

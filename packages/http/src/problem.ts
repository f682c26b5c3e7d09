/** Errors in the form of RFC 9457: `application/problem+json`, with the error's stable `code`. */
import { isError, isErrorOf, type Logger } from '@millrace/core'
import { SECURITY_HEADERS } from './answer.ts'
import { HttpError, STATUS, statusOfStore } from './errors.ts'
import { BOUNDS } from './limits.ts'

/** Titles of statuses, in a problem and in the document. */
export const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  503: 'Service Unavailable',
  507: 'Insufficient Storage',
}

/** Messages in place of the store's own, which may contain SQL and paths. */
const DETAILS: Readonly<Record<string, string>> = {
  COMMIT_UNKNOWN: 'whether it happened is not known: repeat it with an idempotency key',
  CONNECTION_LOST: 'the way to the engine was lost: whether it happened is not known; repeat it with an idempotency key',
  AUDIT_UNAVAILABLE:
    'the call would leave no entry in the audit, so it was refused, and nothing of it happened: the log of the server names the fault, and so does millrace doctor',
  STORAGE: 'the store has failed, and nothing of it happened: try again',
  STORAGE_BUSY: 'the store is held by another program: try again',
  ENGINE_FAILED: 'the engine has failed and must be opened again',
  OWNER_LOST: 'another process has taken a file over, or it was moved, deleted or replaced: the log of the server names it',
  DISK_FULL: 'the disk is full, and no new work is taken until there is room for it',
}

/** Fields of errors that are shown. All others stay in the process. */
const TOLD = [
  'option',
  'limit',
  'jobId',
  'scheduleId',
  'workerId',
  'queue',
  'maxLength',
  'jobs',
  'retryAfter',
  'neededBytes',
  'errors',
  'progress',
] as const

type Thrown = Readonly<Record<string, unknown>> & { readonly message: string }

/**
 * Other errors than those of the queue and its stores are a 500, whatever they call their category. So is one of another copy of core that
 * has none, or one that is not known here.
 */
function statusOf(thrown: unknown): number {
  if (thrown instanceof HttpError) return thrown.status
  const ofStore = statusOfStore(codeOf(thrown))
  if (ofStore !== undefined) return ofStore
  const isOwn = isErrorOf(thrown, 'MillraceError') || isErrorOf(thrown, 'OptionTypeError') || isErrorOf(thrown, 'OptionRangeError')
  const status: number | undefined = isOwn ? STATUS[thrown.category] : undefined
  return status ?? STATUS.failure
}

function codeOf(thrown: unknown): string {
  const code = (thrown as Thrown | undefined)?.code
  return typeof code === 'string' ? code : ''
}

/** @param report gets errors that only the log may show, and returns the id by which they are found there */
export function problemOf(thrown: unknown, report: (error: unknown) => string): Response {
  const error = thrown as Thrown
  const code = codeOf(thrown)
  const status = statusOf(thrown)
  if (status === 500) {
    return problem(500, { type: typeOf('INTERNAL'), title: TITLES[500], status: 500, code: 'INTERNAL', id: report(thrown) }, {})
  }
  const told: Record<string, unknown> = {}
  for (const field of TOLD) if (error[field] !== undefined) told[field] = error[field]
  if (code === 'VALIDATION' && Array.isArray(error['issues'])) told['errors'] = error['issues'].map(faultOf)
  const body = {
    type: typeOf(code),
    title: TITLES[status],
    status,
    code,
    detail: DETAILS[code] ?? error.message,
    retryable: error['retryable'] === true,
    ...told,
  }
  return problem(status, body, thrown instanceof HttpError ? thrown.headers : {})
}

function typeOf(code: string): string {
  return `urn:millrace:problem:${code.toLowerCase().replaceAll('_', '-')}`
}

function problem(status: number, body: Readonly<Record<string, unknown>>, headers: Readonly<Record<string, string>>): Response {
  const waits = status === 429 || status === 503 || status === 507
  const seconds = Math.max(1, Math.ceil(Number(body['retryAfter'] ?? BOUNDS.retryAfterMs) / 1_000))
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      'content-type': 'application/problem+json',
      ...SECURITY_HEADERS,
      ...(waits && { 'retry-after': `${seconds}` }),
      ...headers,
    },
  })
}

function faultOf(issue: unknown): { path: string; message: string } {
  const { path = [], message } = issue as { path?: readonly unknown[]; message: string }
  return { path: ['data', ...path].join('.'), message }
}

/** Returns a function that logs an error that must not be shown, and returns its new id. */
export function reporter(logger: Logger | undefined, newId: () => string): (error: unknown) => string {
  return (error) => {
    const id = newId()
    const stack = isError(error) ? (error.stack ?? `${error.name}: ${error.message}`) : String(error)
    if (logger === undefined) process.emitWarning(`a request has failed (${id}): ${stack}`, 'MillraceWarning')
    else logger.error('a request has failed', { id, error: stack })
    return id
  }
}

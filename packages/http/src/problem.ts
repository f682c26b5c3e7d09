/** Errors in the form of RFC 9457: `application/problem+json`, with the error's stable `code`. */
import { isError, type Logger } from '@millrace/core'
import { SECURITY_HEADERS } from './answer.ts'
import { HttpError } from './errors.ts'
import { BOUNDS } from './limits.ts'

/** Statuses by code. An error with another code is a 500, and shows nothing but an id. */
const STATUS: Readonly<Record<string, number>> = {
  OPTION_TYPE: 400,
  OPTION_RANGE: 400,
  VALIDATION: 400,
  INVALID_SCHEDULE: 400,
  AUTH_FAILED: 401,
  FORBIDDEN: 403,
  ENDPOINT_NOT_FOUND: 404,
  JOB_NOT_FOUND: 404,
  SCHEDULE_NOT_FOUND: 404,
  TOKEN_NOT_FOUND: 404,
  WORKER_NOT_FOUND: 404,
  JOB_ACTIVE: 409,
  JOB_BLOCKED: 409,
  JOB_SCHEDULED: 409,
  JOB_FINISHED: 409,
  PARENT_FAILED: 409,
  QUEUE_NOT_EMPTY: 409,
  QUEUE_NOT_FOUND: 404,
  STALE_RUN: 409,
  SCHEDULE_CHANGED: 409,
  SCHEDULE_EXISTS: 409,
  TOKEN_EXISTS: 409,
  TOO_MANY_QUEUES: 409,
  TOO_MANY_NAMES: 409,
  UNIQUE_CONFLICT: 409,
  TOO_LARGE: 413,
  UNSUPPORTED: 501,
  AUDIT_UNAVAILABLE: 503,
  BUSY: 503,
  COMMIT_UNKNOWN: 503,
  CONNECTION_LOST: 503,
  ENGINE_FAILED: 503,
  ENGINE_STOPPED: 503,
  OWNER_LOST: 503,
  QUEUE_DRAINING: 503,
  QUEUE_FULL: 503,
  STORAGE: 503,
  STORAGE_BUSY: 503,
  DISK_FULL: 507,
}

/** Titles of statuses, in a problem and in the document. */
export const TITLES: Readonly<Record<number, string>> = {
  400: 'The request is not valid',
  401: 'A token is needed',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Not with this method',
  408: 'The body has not come in time',
  409: 'It stands against what is there',
  413: 'Too large',
  415: 'Not a content type that is read here',
  429: 'Too many requests',
  500: 'Internal error',
  501: 'Not offered here',
  503: 'Not just now',
  507: 'The disk is full',
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

/** An unsupported `option` conflicts with other settings: the request is wrong, and the engine could do it with others. */
function statusOf(code: string, option: unknown): number | undefined {
  return code === 'UNSUPPORTED' && option !== undefined ? 400 : STATUS[code]
}

/** @param report gets errors that only the log may show, and returns the id by which they are found there */
export function problemOf(thrown: unknown, report: (error: unknown) => string): Response {
  const error = thrown as Thrown
  const code = typeof error?.code === 'string' ? error.code : ''
  const status = thrown instanceof HttpError ? thrown.status : statusOf(code, error?.['option'])
  if (status === undefined || status === 500) {
    return problem(500, { type: typeOf('INTERNAL'), title: TITLES[500], status: 500, code: 'INTERNAL', id: report(thrown) }, {})
  }
  const told: Record<string, unknown> = {}
  for (const field of TOLD) if (error[field] !== undefined) told[field] = error[field]
  if (code === 'VALIDATION' && Array.isArray(error['issues'])) told['errors'] = error['issues'].map(faultOf)
  const body = {
    type: typeOf(code),
    title: TITLES[status] ?? 'Refused',
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

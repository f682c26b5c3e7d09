/** The job 'http': one request, retried until it is accepted. */
import { type BackoffOptions, type Duration, isBase64, parseDuration } from '@millrace/core'
import { type Definition, defineJob } from '@millrace/worker'
import type { WebhookOutput } from './deliver/response.ts'

export const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'GET', 'HEAD'] as const
/** The method of the request. */
export type WebhookMethod = (typeof METHODS)[number]

/** The data of a webhook: where it goes, and what it sends. */
export interface WebhookData {
  /** An https URL, or an http URL if the worker allows it. */
  readonly url: string
  /** The HTTP method; default `POST`. */
  readonly method?: WebhookMethod
  /** More headers. Those of the connection and of every delivery (`webhook-*`, `millrace-*`) are refused. */
  readonly headers?: Readonly<Record<string, string>>
  /** The body, sent as JSON. */
  readonly body?: unknown
  /** Base64 of the bytes to send as they are, in place of `body`. */
  readonly bytes?: string
  /** The name of a secret that the worker has, never the secret itself. */
  readonly secret?: string
  /** The proof that `EventWebhooks` adds to its deliveries, so that a secret without hosts may sign them. */
  readonly proof?: string
  /** The time for the whole exchange: 1 ms to 24 h, and at most the worker's `maxTimeout`; default the worker's `timeout`. */
  readonly timeout?: Duration
}

/** The longest timeout of a delivery. */
export const TIMEOUT_MAX_MS = 86_400_000

const URL_LENGTH_MAX = 8_192
/** Refuses blanks and control characters: URL parsers drop or escape them, each in its way, and JSON takes six bytes for one. */
const URL_TEXT = /^[\x21-\x7e\x80-\uffff]*$/
const HEADERS_MAX = 50
const HEADERS_BYTES_MAX = 8_192
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** The value of a header: one line, in Latin-1. */
export const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
/** Headers of the connection, and those that every delivery sets. */
const OURS =
  /^(?:host|connection|content-length|transfer-encoding|keep-alive|upgrade|te|trailer|expect|http2-settings|proxy-.*|webhook-.*|millrace-.*)$/i
const GIVEN = ['url', 'method', 'headers', 'body', 'bytes', 'secret', 'timeout']
const KNOWN = new Set([...GIVEN, 'proof'])

interface Issue {
  readonly message: string
  readonly path: readonly string[]
}

/** Returns the faults of a webhook's data, regardless of what the worker allows. */
export function webhookIssues(value: unknown): readonly Issue[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Uint8Array)
    return [{ message: 'a webhook is { url, method, headers, body, bytes, secret, timeout }', path: [] }]
  const { url, method = 'POST', headers = {}, body, bytes, secret, proof, timeout } = value as Record<string, unknown>
  const issues: Issue[] = []
  const check = (holds: boolean, path: string, message: string) => {
    if (!holds) issues.push({ message, path: [path] })
  }
  for (const name of Object.keys(value)) check(KNOWN.has(name), name, `is not known: a webhook has ${GIVEN.join(', ')}`)
  check(typeof url === 'string' && /^https?:\/\//i.test(url) && URL.canParse(url), 'url', 'is a URL that begins with https:// (or http://)')
  check(typeof url !== 'string' || (URL_TEXT.test(url) && url.isWellFormed()), 'url', 'has no blanks and is well-formed Unicode')
  check(!hasCredentials(url), 'url', 'has no user name and no password: use a header')
  check(typeof url !== 'string' || url.length <= URL_LENGTH_MAX, 'url', `has up to ${URL_LENGTH_MAX} characters`)
  check(METHODS.includes(method as WebhookMethod), 'method', `is one of ${METHODS.join(', ')}`)
  checkHeaders(headers, issues)
  check(secret === undefined || (typeof secret === 'string' && secret !== ''), 'secret', 'is the name of a secret')
  check(secret === undefined || !String(secret).startsWith('whsec_'), 'secret', 'is the name of a secret, never the secret itself')
  check(proof === undefined || (typeof proof === 'string' && isBase64(proof)), 'proof', 'is base64')
  const ms = timeout === undefined ? 1 : parseDuration(timeout)
  check(ms !== undefined && ms >= 1 && ms <= TIMEOUT_MAX_MS, 'timeout', `is a duration of 1 ms to ${TIMEOUT_MAX_MS} ms`)
  check(bytes === undefined || (typeof bytes === 'string' && isBase64(bytes)), 'bytes', 'is base64')
  check(bytes === undefined || body === undefined, 'bytes', 'excludes body: give one of them')
  if (method === 'GET' || method === 'HEAD') check(body === undefined && bytes === undefined, 'body', `is not for ${method}`)
  return issues
}

/** Everybody who may read jobs or endpoints would see them. */
function hasCredentials(url: unknown): boolean {
  const parsed = typeof url === 'string' ? URL.parse(url) : null
  return parsed !== null && (parsed.username !== '' || parsed.password !== '')
}

function checkHeaders(headers: unknown, issues: Issue[]): void {
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) {
    issues.push({ message: 'is an object of texts', path: ['headers'] })
    return
  }
  const entries = Object.entries(headers)
  for (const [name, value] of entries) {
    const path = ['headers', name]
    if (!NAME.test(name)) issues.push({ message: 'is no name of a header', path })
    else if (OURS.test(name)) issues.push({ message: 'is not to be given: it is of the connection, or of every delivery', path })
    if (typeof value !== 'string' || !HEADER_VALUE.test(value)) issues.push({ message: 'is a text of one line, in Latin-1', path })
  }
  const bytes = entries.reduce((sum, [name, value]) => sum + name.length + String(value).length, 0)
  if (entries.length > HEADERS_MAX || bytes > HEADERS_BYTES_MAX)
    issues.push({ message: `are at most ${HEADERS_MAX}, of ${HEADERS_BYTES_MAX} bytes together`, path: ['headers'] })
}

const BACKOFF: BackoffOptions = { type: 'exponential', delay: '5s', factor: 5, maxDelay: '24h', jitter: 0.2 }

const SCHEMA = {
  '~standard': {
    version: 1,
    vendor: 'millrace',
    validate(value: unknown) {
      const issues = webhookIssues(value)
      return issues.length > 0 ? { issues } : { value: value as WebhookData }
    },
    types: undefined as unknown as { readonly input: WebhookData; readonly output: WebhookData },
  },
} as const

/**
 * The definition of a webhook. It is tried 10 times within about three days (at once, then after 5 s, 25 s, 2 m, 10 m, 1 h, 4
 * h, 20 h, 20 h, 20 h, each ± 20 %), unless the enqueue sets other values or the receiver says when.
 */
export const webhookJob: Definition<WebhookData, WebhookOutput> = define()

/** The retry settings of a webhook. */
export interface RetrySettings {
  /** The maximum number of attempts; default 10. */
  readonly maxAttempts?: number
  /** The delay between attempts; default exponential from 5 s, factor 5, cap 24 h, jitter 0.2. */
  readonly backoff?: BackoffOptions
}

/** Returns the definition for jobs enqueued by name. Their queue's settings override it. @throws OptionTypeError, OptionRangeError */
export function weakWebhookJob(
  settings: RetrySettings,
): Pick<Definition<WebhookData, WebhookOutput>, 'name' | 'defaults' | 'schema' | 'backoff'> {
  const { name, defaults, schema, backoff } = define(settings)
  return { name, schema, backoff, defaults: Object.freeze({ ...defaults, weak: true }) }
}

function define({ maxAttempts = 10, backoff = BACKOFF }: RetrySettings = {}): Definition<WebhookData, WebhookOutput> {
  return defineJob({ name: 'http', maxAttempts, backoff, timeout: '5m', schema: SCHEMA }).returns<WebhookOutput>()
}
/** Returns the content to send, and its type if no header sets one. */
export function contentOf({ body, bytes }: WebhookData): {
  readonly content: string | Buffer
  readonly type: string | undefined
  readonly size: number
} {
  if (bytes !== undefined) {
    const content = Buffer.from(bytes, 'base64')
    return { content, type: 'application/octet-stream', size: content.length }
  }
  if (body === undefined) return { content: '', type: undefined, size: 0 }
  const content = JSON.stringify(body)
  return { content, type: 'application/json', size: Buffer.byteLength(content) }
}

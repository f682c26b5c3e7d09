/** Signatures of Standard Webhooks 1.0: `v1,` and the HMAC-SHA256 of `id.timestamp.body`, one for each secret. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Duration, durationOption, isBase64, OptionRangeError, OptionTypeError } from '@millrace/core'
import { systemClock } from '@millrace/worker'
import { SignatureInvalidError } from './errors.ts'

const PREFIX = 'whsec_'
const KEY_BYTES_MIN = 24
const KEY_BYTES_MAX = 64
const SIGNATURES_MAX = 16
const TOLERANCE_MS = 300_000

/** `whsec_` and the base64 of 24 to 64 bytes; several while one replaces another. */
export type WebhookSecret = string | readonly string[]

/** The headers that carry a signature. */
export interface SignatureHeaders {
  readonly 'webhook-id': string
  readonly 'webhook-timestamp': string
  readonly 'webhook-signature': string
}

/** Returns the bytes of checked secrets. Error messages never contain the secrets themselves. */
export function keysOf(option: string, secret: unknown): readonly Buffer[] {
  const list: readonly unknown[] = Array.isArray(secret) ? secret : [secret]
  if (list.length === 0) throw new OptionRangeError(option, 1, `${option} must have 1 secret or more, got none`)
  return list.map((one) => {
    const text = typeof one === 'string' && one.startsWith(PREFIX) ? one.slice(PREFIX.length) : undefined
    // Some libraries leave the padding out.
    if (text === undefined || !isBase64(text.padEnd(Math.ceil(text.length / 4) * 4, '='))) {
      throw new OptionTypeError(option, `${option} must be '${PREFIX}' and base64, or an array of such while one is replaced`)
    }
    const key = Buffer.from(text, 'base64')
    if (key.length < KEY_BYTES_MIN || key.length > KEY_BYTES_MAX) {
      const limit = key.length < KEY_BYTES_MIN ? KEY_BYTES_MIN : KEY_BYTES_MAX
      throw new OptionRangeError(
        option,
        limit,
        `${option} must have ${KEY_BYTES_MIN} to ${KEY_BYTES_MAX} bytes in base64, got ${key.length}`,
      )
    }
    return key
  })
}

/** @param seconds since 1970 */
export function signatureHeaders(keys: readonly Buffer[], id: string, seconds: number, body: string | Uint8Array): SignatureHeaders {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': keys.map((key) => `v1,${digest(key, id, String(seconds), body).toString('base64')}`).join(' '),
  }
}

function digest(key: Buffer, id: string, seconds: string, body: string | Uint8Array): Buffer {
  return createHmac('sha256', key).update(`${id}.${seconds}.`).update(body).digest()
}

/**
 * Returns the three headers of a webhook.
 *
 * @throws OptionTypeError, OptionRangeError if the secret is invalid, or the id is empty or has a '.'
 */
export function sign(webhook: {
  readonly id: string
  readonly timestamp: Date
  /** The exact bytes that are sent. A string stands for its UTF-8. */
  readonly body: string | Uint8Array
  readonly secret: WebhookSecret
}): SignatureHeaders {
  const { id, timestamp, body, secret } = webhook
  if (typeof id !== 'string' || id === '' || id.includes('.')) throw new OptionTypeError('id', "id must be a string without '.'")
  const ms = timestamp instanceof Date ? timestamp.getTime() : Number.NaN
  if (!(ms >= 0)) throw new OptionTypeError('timestamp', 'timestamp must be a Date since 1970')
  return signatureHeaders(keysOf('secret', secret), id, Math.floor(ms / 1_000), body)
}

/** Headers as node:http has them, or a `Headers` object. */
export type ReceivedHeaders = Readonly<Record<string, string | readonly string[] | undefined>> | { get(name: string): string | null }

/**
 * Checks the signature of a webhook. Returns its id, which is the same for each attempt, and the time when it was signed.
 *
 * @throws SignatureInvalidError if headers are missing, no signature matches, or the time is off by more than `tolerance`
 * (default 5 m)
 * @throws OptionTypeError, OptionRangeError
 */
export function verify(webhook: {
  readonly headers: ReceivedHeaders
  /** The body as it was received, not parsed and serialized again. */
  readonly body: string | Uint8Array
  readonly secret: WebhookSecret
  readonly tolerance?: Duration
  /** The time to compare with; default now. */
  readonly now?: Date
}): { readonly id: string; readonly timestamp: Date } {
  const { headers, body, secret, tolerance = TOLERANCE_MS, now } = webhook
  const keys = keysOf('secret', secret)
  const [id, seconds, signatures] = (['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const).map((name) =>
    headerOf(headers, name),
  )
  if (id === undefined || seconds === undefined || signatures === undefined) {
    throw new SignatureInvalidError('the headers webhook-id, webhook-timestamp and webhook-signature are needed')
  }
  if (!/^\d{1,12}$/.test(seconds)) throw new SignatureInvalidError('webhook-timestamp is seconds since 1970')
  const at = Number(seconds) * 1_000
  const off = Math.abs((now?.getTime() ?? systemClock.read().wall) - at)
  if (!(off <= durationOption('tolerance', tolerance))) throw new SignatureInvalidError('webhook-timestamp is too far from now')
  const given = signatures
    .split(' ', SIGNATURES_MAX)
    .flatMap((text) => (text.startsWith('v1,') ? [Buffer.from(text.slice(3), 'base64')] : []))
  const fits = keys.some((key) => {
    const wanted = digest(key, id, seconds, body)
    return given.some((bytes) => bytes.length === wanted.length && timingSafeEqual(bytes, wanted))
  })
  if (!fits) throw new SignatureInvalidError('no signature of webhook-signature fits')
  return { id, timestamp: new Date(at) }
}

function headerOf(headers: ReceivedHeaders, name: string): string | undefined {
  const { get } = headers
  if (typeof get === 'function') return get.call(headers, name) ?? undefined
  const value = (headers as Readonly<Record<string, unknown>>)[name]
  return typeof value === 'string' ? value : undefined
}

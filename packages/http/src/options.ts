/** The options of `createHttp`. */
import {
  booleanOption,
  checkKnown,
  type Duration,
  describe,
  durationOption,
  headerTokenOption,
  type InstanceOptions,
  instanceOption,
  integerOption,
  type Logger,
  loggerOption,
  OptionRangeError,
  OptionTypeError,
  type Scope,
  textOption,
  tokensOption,
} from '@millrace/core'
import type { Caller } from './access/caller.ts'
import { allowedHostsOption } from './access/hosts.ts'
import type { Rate } from './access/rates.ts'
import { type KnownToken, tokenReader } from './access/tokens.ts'
import type { AuditEntry } from './audit.ts'
import { type DashboardOptions, type DashboardSettings, dashboardOption } from './dashboard/options.ts'
import { BOUNDS } from './limits.ts'
import { redactOption } from './redaction.ts'
import type { SocketPlace } from './sockets.ts'
import type { TokenStore } from './tokens.ts'
import type { WebhookEndpoints } from './webhooks.ts'

/** The options of `createHttp`. */
export interface HttpOptions {
  /**
   * The token that callers send as `Authorization: Bearer`: a string of 16 to 512 characters (32 random bytes as base64url are
   * good). Or up to 64 of them, each with its scopes; two for the same callers while one replaces the other. Default none:
   * exactly one of `token`, `authenticate` and `open` is required.
   */
  readonly token?: string | readonly HttpTokenOption[]
  /** Returns the caller of a token if tokens are kept elsewhere; undefined for an unknown one. Default: `token` decides. */
  readonly authenticate?: (token: string) => Caller | undefined | Promise<Caller | undefined>
  /** Requires no token: everyone who can send a request may do everything. Default: a token is required. */
  readonly open?: true
  /**
   * The names under which the API is served, without ports: `jobs.example.com`, or `*.example.com`. Requests to other names are
   * refused, except to addresses and `localhost`. `any` allows every name. Default `any`; with `open` none.
   */
  readonly allowedHosts?: readonly string[] | 'any'
  /** The maximum size of a request's body, except for imports: 1 KiB to 64 MiB, default 1 MiB. */
  readonly maxBodyBytes?: number
  /** The maximum size of one line of an import: 1 KiB to 16 MiB, default 1 MiB. */
  readonly maxLineBytes?: number
  /** The time for a body to arrive, or for an import to send more of it, else 408: 1 ms to 24 h, default 30 s. */
  readonly bodyTimeout?: Duration
  /** The rate of requests of one token: `limit` at once, then as many per `period` (default 1 s). Default none. */
  readonly rateLimit?: { readonly limit: number; readonly period?: Duration }
  /** Called for every call that needs the scope `admin`, refused ones included; the answer waits for it. Default none. */
  readonly audit?: (entry: AuditEntry) => unknown
  /** Throws if `audit` could store nothing now. A call that needs `admin` and changes something is then refused. Default none. */
  readonly assertAuditable?: () => unknown
  /** The key that signs the cursors of pages: 16 bytes or more. Default random: cursors end with the process. */
  readonly cursorSecret?: string | Uint8Array
  /** The key that seals the cookies of sessions: 16 bytes or more. Default random: sessions end with the process. */
  readonly sessionSecret?: string | Uint8Array
  /**
   * Up to 100 paths of payloads whose values no answer shows, as `data.user.email` or `*.password`. They begin with `data`, `output`,
   * `checkpoint`, `meta`, `fields` (of log lines) or `*`; `*` is any key. Default none.
   */
  readonly redact?: readonly string[]
  /** The path that the API is mounted at, such as `/queue`; default `/`. */
  readonly basePath?: string
  /** The dashboard, served at `basePath` without a token: its page gets everything from the API. Default none. */
  readonly dashboard?: DashboardOptions
  /** Logs requests that fail internally, and addresses that try wrong tokens. Default: the former are process warnings. */
  readonly logger?: Logger
  /** `POST /v1/engine/stop` calls `stop` before it answers: `stop` begins, and does not wait. Default none: the answer is 501. */
  readonly control?: { stop(): void }
  /** True if the process is ready. `/readyz` asks this beside the engine. Default: only the engine is asked. */
  readonly ready?: () => boolean
  /** Returns what does not work although jobs are taken. `/healthz` and `/readyz` show it to everybody. Default none. */
  readonly degraded?: () => string | undefined
  /** The endpoints that receive events, for `/v1/webhooks`. Default none: the routes do not exist. */
  readonly webhooks?: WebhookEndpoints
  /** The tokens and the audit, for `/v1/tokens` and `/v1/audit`. Default none: the routes do not exist. */
  readonly tokens?: TokenStore
  /** Returns the sockets of the program, for `/v1/sockets`: called for each request. Default none: the route does not exist. */
  readonly sockets?: () => readonly SocketPlace[]
  /** The version of the program that serves the API, shown by `/v1/stats` and `/metrics`: 1 to 512 characters. Default none. */
  readonly version?: string
  /** The name and the colour of this installation, which `/v1/info` shows. Default none. */
  readonly instance?: InstanceOptions
}

/** One of several tokens. */
export interface HttpTokenOption {
  readonly token: string
  /** The allowed scopes: `enqueue`, `work`, `read`, `admin`, `send`; default all of them. */
  readonly scopes?: readonly Scope[]
  /** The name for `audit` and `rateLimit`; default its place: `token[0]`. */
  readonly name?: string
}

export interface HttpSettings {
  /** Undefined if no token is needed. */
  readonly authenticate: HttpOptions['authenticate'] | undefined
  readonly allowedHosts: readonly string[] | 'any' | undefined
  readonly maxBodyBytes: number
  readonly maxLineBytes: number
  readonly bodyTimeoutMs: number
  readonly rate: Rate | undefined
  readonly audit: HttpOptions['audit'] | undefined
  readonly assertAuditable: HttpOptions['assertAuditable'] | undefined
  readonly cursorSecret: Uint8Array | undefined
  readonly sessionSecret: Uint8Array | undefined
  readonly redact: ReturnType<typeof redactOption>
  /** The path without a slash at its end: '' for the root. */
  readonly basePath: string
  readonly dashboard: DashboardSettings | undefined
  readonly logger: Logger | undefined
  readonly control: HttpOptions['control'] | undefined
  readonly ready: HttpOptions['ready'] | undefined
  readonly degraded: HttpOptions['degraded'] | undefined
  readonly webhooks: WebhookEndpoints | undefined
  readonly tokens: TokenStore | undefined
  readonly sockets: HttpOptions['sockets'] | undefined
  readonly version: string | undefined
  readonly instance: InstanceOptions
}

const KNOWN = new Set([
  'token',
  'authenticate',
  'open',
  'allowedHosts',
  'maxBodyBytes',
  'maxLineBytes',
  'bodyTimeout',
  'rateLimit',
  'audit',
  'assertAuditable',
  'cursorSecret',
  'sessionSecret',
  'redact',
  'basePath',
  'dashboard',
  'logger',
  'control',
  'ready',
  'degraded',
  'webhooks',
  'tokens',
  'sockets',
  'version',
  'instance',
])
const RATE_KNOWN = new Set(['limit', 'period'])
const RATE_MAX = 1_000_000
const HOUR_MS = 3_600_000

/** @throws OptionTypeError, OptionRangeError */
export function validateHttpOptions(options: unknown): HttpSettings {
  checkKnown('createHttp', options, KNOWN)
  const {
    maxBodyBytes = BOUNDS.bodyBytes,
    maxLineBytes = BOUNDS.lineBytes,
    bodyTimeout = BOUNDS.bodyMs,
    rateLimit,
    allowedHosts,
    audit,
    assertAuditable,
    cursorSecret,
    sessionSecret,
    redact = [],
    dashboard,
    logger,
    control,
    ready,
    degraded,
    webhooks,
    tokens,
    sockets,
    version,
    instance = {},
  } = options
  return {
    authenticate: authenticateOption(options),
    allowedHosts: allowedHosts === undefined ? undefined : allowedHostsOption(allowedHosts),
    maxBodyBytes: integerOption('maxBodyBytes', maxBodyBytes, 1_024, BOUNDS.bodyBytesMax),
    maxLineBytes: integerOption('maxLineBytes', maxLineBytes, 1_024, BOUNDS.lineBytesMax),
    bodyTimeoutMs: durationOption('bodyTimeout', bodyTimeout, { min: 1, max: BOUNDS.bodyMsMax }),
    rate: rateLimit === undefined ? undefined : rateOption(rateLimit),
    audit: functionOption<HttpOptions['audit']>('audit', audit),
    assertAuditable: functionOption<HttpOptions['assertAuditable']>('assertAuditable', assertAuditable),
    cursorSecret: cursorSecret === undefined ? undefined : secretOption('cursorSecret', cursorSecret),
    sessionSecret: sessionSecret === undefined ? undefined : secretOption('sessionSecret', sessionSecret),
    redact: redactOption(redact),
    basePath: basePathOption(options['basePath']),
    dashboard: dashboard === undefined ? undefined : dashboardOption(dashboard),
    logger: logger === undefined ? undefined : loggerOption('logger', logger),
    control: control === undefined ? undefined : controlOption(control),
    ready: functionOption<HttpOptions['ready']>('ready', ready),
    degraded: functionOption<HttpOptions['degraded']>('degraded', degraded),
    webhooks:
      webhooks === undefined
        ? undefined
        : storeOption<WebhookEndpoints>('webhooks', webhooks, ['list', 'add', 'enable', 'disable', 'remove']),
    tokens: tokens === undefined ? undefined : storeOption<TokenStore>('tokens', tokens, ['list', 'create', 'revoke', 'audited']),
    sockets: functionOption<HttpOptions['sockets']>('sockets', sockets),
    version: version === undefined ? undefined : textOption('version', version),
    instance: instanceOption(instance),
  }
}

function authenticateOption(options: Readonly<Record<string, unknown>>): HttpSettings['authenticate'] {
  const { token, authenticate, open } = options
  const given = ['token', 'authenticate', 'open'].filter((name) => options[name] !== undefined)
  if (given.length === 0) {
    throw new OptionTypeError(
      'token',
      'createHttp needs a token (or authenticate): without one, anyone who can reach it can do everything. If you want that, set open: true',
    )
  }
  if (given.length > 1) throw new OptionTypeError(given[1] as string, `${given.join(' and ')} exclude each other: give one of them`)
  if (token !== undefined) return tokenReader(tokensRead(token))
  if (authenticate !== undefined) return functionOption<HttpOptions['authenticate']>('authenticate', authenticate)
  if (!booleanOption('open', open)) throw new OptionTypeError('open', 'open must be true or left out; if it is left out, give a token')
  if (options['tokens'] !== undefined)
    throw new OptionTypeError(
      'tokens',
      'tokens and open exclude each other: anyone who can reach the API could create tokens that outlive it',
    )
  return undefined
}

function tokensRead(value: unknown): readonly KnownToken[] {
  return tokensOption(value, ['name']).map(({ token, scopes, option, item }) => {
    const { name = option } = item
    if (typeof name !== 'string' || name === '')
      throw new OptionTypeError(`${option}.name`, `${option}.name must be a string, got ${describe(name)}`)
    return { name, token: headerTokenOption(option === 'token' ? option : `${option}.token`, token), scopes }
  })
}

function rateOption(value: unknown): Rate {
  checkKnown('rateLimit', value, RATE_KNOWN)
  return {
    limit: integerOption('rateLimit.limit', value['limit'], 1, RATE_MAX),
    periodMs: durationOption('rateLimit.period', value['period'] ?? 1_000, { min: 1, max: HOUR_MS }),
  }
}

function secretOption(option: string, value: unknown): Uint8Array {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value
  if (!(bytes instanceof Uint8Array)) throw new OptionTypeError(option, `${option} must be a string or bytes, got ${typeof value}`)
  if (bytes.length < BOUNDS.secretMin) {
    const message = `${option} must have at least ${BOUNDS.secretMin} bytes, got ${bytes.length}: make it of 32 random bytes`
    throw new OptionRangeError(option, BOUNDS.secretMin, message)
  }
  return bytes
}

function basePathOption(value: unknown = '/'): string {
  if (typeof value !== 'string' || !/^(?:\/[A-Za-z0-9._~-]+)*\/?$/.test(value)) {
    throw new OptionTypeError('basePath', `basePath must be '/' or as '/queue', got ${describe(value)}`)
  }
  return value.replace(/\/$/, '')
}

function controlOption(value: unknown): HttpOptions['control'] {
  const control = value as HttpOptions['control'] | null
  if (typeof control?.stop !== 'function') throw new OptionTypeError('control', `control must be { stop() }, got ${describe(value)}`)
  return control
}

/** Returns an object that has these methods. */
function storeOption<Store extends object>(option: string, value: unknown, calls: readonly (keyof Store & string)[]): Store {
  if (calls.every((call) => typeof (value as Store | null)?.[call] === 'function')) return value as Store
  throw new OptionTypeError(
    option,
    `${option} must have ${calls
      .map((call) => `${call}()`)
      .join(', ')
      .replace(/, (?=[^,]*$)/, ' and ')}`,
  )
}

function functionOption<Wanted>(option: string, value: unknown): Wanted | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'function') throw new OptionTypeError(option, `${option} must be a function, got ${describe(value)}`)
  return value as Wanted
}

/** The options of `listen`. */
import {
  booleanOption,
  checkKnown,
  type Duration,
  describe,
  durationWithin,
  integerBetween,
  type Logger,
  loggerOption,
  OptionTypeError,
  optionsReader,
  type Permit,
  permitOption,
  type Scope,
  tokensOption,
} from '@millrace/core'
import { pemOption, type SharedSecret, secretOption } from '../credentials.ts'
import { BOUNDS } from '../limits.ts'
import type { AuditedCall } from './trail.ts'

/** The options of `listen`. */
export interface ListenOptions {
  /**
   * The token that clients must give: a string of 16 to 512 characters (32 random bytes as base64url are good). Or up to 64 tokens,
   * each with what it allows; use two for the same clients while one replaces the other. Default none: anyone who can connect may
   * do everything.
   */
  readonly token?: string | readonly TokenOption[]
  /**
   * Returns what a token allows, if tokens are kept elsewhere and may change; undefined for an unknown one. Called at each greeting,
   * and for connected clients by `server.recheck()`. Replaces `token`. Default none.
   */
  readonly authenticate?: Authenticate
  /** The certificate of a `tls://` address, or a secret that clients know. Default none. */
  readonly tls?: ServerTlsOptions | SharedSecret
  /** The most connections at a time: 1 to 100,000, default 2,000. */
  readonly maxConnections?: number
  /** The most connections of one network address, in IPv6 of one /64, not of Unix sockets: 1 to 100,000, default 100. */
  readonly maxConnectionsPerAddress?: number
  /** The most connections that have yet to greet: 1 to 100,000, default 64. */
  readonly maxUnauthenticated?: number
  /**
   * The most bytes that this server holds because clients have not read them yet, for all connections together: 64 MiB to 64 GiB,
   * default 256 MiB. Beyond it the connection that has the most is closed.
   */
  readonly maxUnreadBytes?: number
  /** The time for a new connection to greet: 100 ms to a minute, default 5 s. */
  readonly helloTimeout?: Duration
  /**
   * Called with every call that requires the scope `admin`, refused ones included, before it is answered. It must return at once, and
   * its errors are logged. A call whose connection ends before its answer is `failed`: its outcome is unknown. Default none.
   */
  readonly audit?: (calls: readonly AuditedCall[]) => void
  /** Throws if `audit` could store nothing now. A call that requires the scope `admin` is then refused. Default none. */
  readonly assertAuditable?: () => void
  /** The logger for connections that are refused or break. Default none. */
  readonly logger?: Logger
}

/**
 * Returns the scopes of a token, or a permit, which may bind `work` to names and queues. A client without a token is refused without
 * a call. It must return at once. Errors, promises and any other value but undefined are logged, and the client is sent away for now.
 */
export type Authenticate = (token: string) => readonly Scope[] | Permit | undefined

/** One of several tokens, and what it allows. */
export interface TokenOption {
  readonly token: string
  /** The scopes of the token: `enqueue`, `work`, `read`, `admin`; default all of them. */
  readonly scopes?: readonly Scope[]
  /** The name by which `audit` knows it; default its place: `token[0]`. */
  readonly name?: string
  /** Job names that workers with this token may serve, 1 to 100; default every name. */
  readonly names?: readonly string[]
  /** Queues that workers with this token may serve, 1 to 100; default every queue. */
  readonly queues?: readonly string[]
}

/** A token, and what it allows. */
export interface KnownToken {
  readonly token: string
  readonly permit: Permit
}

/** Certificates and keys as PEM, in strings or bytes. TLS 1.3 or later is required. */
export interface ServerTlsOptions {
  /** The private key of the server. */
  readonly key: string | Uint8Array
  /** The certificate of the server. */
  readonly cert: string | Uint8Array
  /** The authorities that sign the certificates of clients. Default: those that Node trusts. */
  readonly ca?: string | Uint8Array
  /** Clients must show a certificate signed by `ca`; default false. */
  readonly requestCert?: boolean
}

export interface ListenSettings {
  readonly tokens: readonly KnownToken[]
  readonly authenticate: Authenticate | undefined
  readonly tls: ServerTlsOptions | SharedSecret | undefined
  readonly maxConnections: number
  readonly maxConnectionsPerAddress: number
  readonly maxUnauthenticated: number
  readonly maxUnreadBytes: number
  readonly helloTimeoutMs: number
  readonly audit: ListenOptions['audit'] | undefined
  readonly assertAuditable: ListenOptions['assertAuditable'] | undefined
  readonly logger: Logger | undefined
}

const TLS_KNOWN = new Set(['key', 'cert', 'ca', 'requestCert'])
const CONNECTIONS_MAX = 100_000
/** At least one frame fits in. */
const UNREAD_BYTES = { min: BOUNDS.replyFrameBytes, usual: 256 * 2 ** 20, max: 64 * 2 ** 30 }

const connections = integerBetween(1, CONNECTIONS_MAX)
const read = optionsReader('listen', {
  token: (_option, value) => knownTokens(value),
  authenticate: authenticateOption,
  tls: tlsOption,
  maxConnections: connections,
  maxConnectionsPerAddress: connections,
  maxUnauthenticated: connections,
  maxUnreadBytes: integerBetween(UNREAD_BYTES.min, UNREAD_BYTES.max),
  helloTimeout: durationWithin({ min: 100, max: 60_000 }),
  audit: functionOption<NonNullable<ListenSettings['audit']>>,
  assertAuditable: functionOption<() => void>,
  logger: loggerOption,
})

/** @throws OptionTypeError, OptionRangeError */
export function validateListenOptions(options: unknown = {}): ListenSettings {
  const { token: tokens = [], helloTimeout: helloTimeoutMs = 5_000, ...given } = read(options)
  if (given.authenticate !== undefined && tokens.length > 0)
    throw new OptionTypeError('authenticate', 'token and authenticate exclude each other: let authenticate know the token too')
  return {
    tokens,
    authenticate: undefined,
    tls: undefined,
    maxConnections: 2_000,
    maxConnectionsPerAddress: 100,
    maxUnauthenticated: 64,
    maxUnreadBytes: UNREAD_BYTES.usual,
    helloTimeoutMs,
    audit: undefined,
    assertAuditable: undefined,
    logger: undefined,
    ...given,
  }
}

function knownTokens(value: unknown): readonly KnownToken[] {
  return tokensOption(value, ['name', 'names', 'queues']).map(({ token, scopes, option, item }) => {
    const { name = option, names, queues } = item
    return { token, permit: permitOption(`${option}.`, { scopes, name, names, queues }) }
  })
}

function authenticateOption(_option: string, value: unknown): Authenticate {
  if (typeof value !== 'function') throw new OptionTypeError('authenticate', `authenticate must be a function, got a ${typeof value}`)
  return value as Authenticate
}

function functionOption<Value>(option: string, value: unknown): Value {
  if (typeof value !== 'function') throw new OptionTypeError(option, `${option} must be a function, got ${describe(value)}`)
  return value as Value
}

export function tlsOption(_option: string, value: unknown): ServerTlsOptions | SharedSecret {
  const secret = secretOption(value)
  if (secret !== undefined) return secret
  checkKnown('tls', value, TLS_KNOWN)
  const { ca, requestCert = false } = value
  if (booleanOption('tls.requestCert', requestCert) && ca === undefined) {
    throw new OptionTypeError('tls.ca', 'tls.ca names who signs the certificates of clients: it requires requestCert')
  }
  return {
    key: pemOption('tls.key', value['key']),
    cert: pemOption('tls.cert', value['cert']),
    ...(ca !== undefined && { ca: pemOption('tls.ca', ca) }),
    requestCert: requestCert as boolean,
  }
}

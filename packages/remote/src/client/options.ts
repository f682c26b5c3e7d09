/** The options of `connect`. */
import {
  booleanOption,
  type Codec,
  checkKnown,
  codecOption,
  type Duration,
  durationWithin,
  type FileUrl,
  integerBetween,
  integerOption,
  LIMITS,
  type Logger,
  type LoggerOption,
  OptionRangeError,
  optionsReader,
  quietableLogger,
  type Redact,
  redactOption,
  textOption,
  tokenOption,
  withoutUrl,
} from '@millrace/core'
import { pemOption, type SharedSecret, secretOption } from '../credentials.ts'

/** The options of `connect`. */
export interface ConnectOptions {
  /** The token that the server requires. Default none. */
  readonly token?: string
  /** The TLS settings for a `tls://` address, or the secret of its server. Default: those of Node. */
  readonly tls?: ClientTlsOptions | SharedSecret
  /** The time before `connect` gives up: 100 ms to an hour, default 10 s. */
  readonly connectTimeout?: Duration
  /** The limit for data, output and checkpoint each: 1 byte to 16 MiB, default 1 MiB. The engine's own limit applies as well. */
  readonly maxDataBytes?: number
  /** The delays between attempts to reconnect. Default from 50 ms to 5 s. */
  readonly reconnect?: ReconnectOptions
  /**
   * The folder of a journal: `enqueue` resolves when the job is synced there, even if no server can be reached. The jobs are
   * forwarded in order as soon as a server can be reached. Default none.
   */
  readonly journal?: string | FileUrl | JournalFolder
  /** Encodes data, output and checkpoint of jobs on this side: the server never sees them. Default none. */
  readonly codec?: Codec
  /** Maps the errors, log lines and notes that workers here report, before they are sent. Default none. */
  readonly redact?: Redact
  /** The logger, as in `openEngine`: default warnings and errors of workers and jobs on stderr, false or null for nothing. */
  readonly logger?: LoggerOption
}

/** Certificates and keys as PEM, in strings or bytes. TLS 1.3 or later is required. */
export interface ClientTlsOptions {
  /** The authorities that sign the server's certificate; default those that Node trusts. */
  readonly ca?: string | Uint8Array
  /** The certificate that this client shows if the server asks for one. Default none. */
  readonly cert?: string | Uint8Array
  /** The private key of `cert`. Default none. */
  readonly key?: string | Uint8Array
  /** The name in the server's certificate. Default: the host of the address. */
  readonly servername?: string
  /** False accepts any certificate, which lets anyone between the two ends pose as the server; default true. */
  readonly rejectUnauthorized?: boolean
}

/** Delays between attempts double from `minDelay` to `maxDelay`; each is a random part of that. */
export interface ReconnectOptions {
  /** The first delay: 1 ms to 1 m, default 50 ms. */
  readonly minDelay?: Duration
  /** The longest delay: at least `minDelay`, up to 1 h. Default 5 s. */
  readonly maxDelay?: Duration
}

/** The folder of a journal, and its largest size. */
export interface JournalFolder {
  /** The path or `file:` URL of the folder. It is created if it does not exist, and one process uses it at a time. */
  readonly folder: string | FileUrl
  /** The limit for jobs that wait to be forwarded: 1 MiB to 64 GiB, default 256 MiB. Beyond it `enqueue` throws JournalFullError. */
  readonly maxBytes?: number
}

export interface ConnectSettings {
  readonly token: string | undefined
  readonly tls: ClientTlsOptions | SharedSecret
  readonly connectTimeoutMs: number
  readonly maxDataBytes: number
  readonly minDelayMs: number
  readonly maxDelayMs: number
  readonly journal: { readonly folder: string; readonly maxBytes: number } | undefined
  readonly codec: Codec | undefined
  readonly redact: Redact | undefined
  /** Undefined for the default; null for none. */
  readonly logger: Logger | null | undefined
}

const JOURNAL_BYTES = { min: 2 ** 20, usual: 256 * 2 ** 20, max: 64 * 2 ** 30 }
const MINUTE = 60_000
const HOUR = 60 * MINUTE

const reconnect = { minDelay: durationWithin({ min: 1, max: MINUTE }), maxDelay: durationWithin({ min: 1, max: HOUR }) }
const readReconnect = optionsReader('reconnect', reconnect, { within: 'reconnect.' })
const tls = { ca: pemOption, cert: pemOption, key: pemOption, servername: textOption, rejectUnauthorized: booleanOption }
const readTls: (value: unknown) => ClientTlsOptions = optionsReader('tls', tls, { within: 'tls.' })

const read = optionsReader('connect', {
  token: tokenOption,
  tls: (_option, value) => secretOption(value) ?? readTls(value),
  connectTimeout: durationWithin({ min: 100, max: HOUR }),
  maxDataBytes: integerBetween(1, LIMITS.bytesPerCommand),
  reconnect: (_option, value) => reconnectOption(value),
  journal: journalOption,
  codec: codecOption,
  redact: redactOption,
  logger: quietableLogger,
})

/** @throws OptionTypeError, OptionRangeError */
export function validateConnectOptions(options: unknown = {}): ConnectSettings {
  const { connectTimeout: connectTimeoutMs = 10_000, reconnect = reconnectOption({}), ...given } = read(options)
  return {
    token: undefined,
    tls: {},
    connectTimeoutMs,
    maxDataBytes: LIMITS.dataBytes,
    ...reconnect,
    journal: undefined,
    codec: undefined,
    redact: undefined,
    logger: undefined,
    ...given,
  }
}

function reconnectOption(value: unknown): Pick<ConnectSettings, 'minDelayMs' | 'maxDelayMs'> {
  const { minDelay: minDelayMs = 50, maxDelay: maxDelayMs = Math.max(5_000, minDelayMs) } = readReconnect(value)
  if (maxDelayMs >= minDelayMs) return { minDelayMs, maxDelayMs }
  const message = `reconnect.maxDelay must be at least reconnect.minDelay (${minDelayMs} ms), got ${maxDelayMs}`
  throw new OptionRangeError('reconnect.maxDelay', minDelayMs, message)
}

const JOURNAL_KNOWN = new Set(['folder', 'maxBytes'])

function journalOption(option: string, given: unknown): ConnectSettings['journal'] {
  const value = withoutUrl(option, given)
  if (typeof value === 'string') return { folder: textOption(option, value), maxBytes: JOURNAL_BYTES.usual }
  checkKnown(option, value, JOURNAL_KNOWN)
  const { folder, maxBytes = JOURNAL_BYTES.usual } = value
  return {
    folder: textOption(`${option}.folder`, withoutUrl(`${option}.folder`, folder)),
    maxBytes: integerOption(`${option}.maxBytes`, maxBytes, JOURNAL_BYTES.min, JOURNAL_BYTES.max),
  }
}

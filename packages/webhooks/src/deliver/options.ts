/** The options of `webhookHandler`. */
import { X509Certificate } from 'node:crypto'
import { lookup as systemLookup } from 'node:dns'
import {
  booleanOption,
  type Clock,
  checkKnown,
  type Duration,
  describe,
  durationOption,
  integerOption,
  OptionTypeError,
} from '@millrace/core'
import { type JobInfo, systemClock } from '@millrace/worker'
import { HEADER_VALUE, type RetrySettings, TIMEOUT_MAX_MS } from '../job.ts'
import type { Lookup } from '../safety/connector.ts'
import { hostsOption, hostTest, type TargetRules } from '../safety/target.ts'
import { type Keyring, keyring, type Secrets } from './secrets.ts'

export interface WebhookHandlerOptions extends RetrySettings {
  /** By the names that jobs give, each of one receiver, with the hosts that they are for; or a function. Default none. */
  readonly secrets?: Secrets
  /** Lets webhooks into private networks and onto this machine. Default false. */
  readonly allowPrivate?: boolean
  /** Default false: https alone. */
  readonly allowHttp?: boolean
  /** Default 443 and 8443, with `allowHttp` 80 and 8080 as well. */
  readonly ports?: readonly number[] | 'any'
  /** These hosts alone, without ports: `example.com`, `*.example.com` for those below it. Default all. */
  readonly allowHosts?: readonly string[]
  /** Requests to one host at a time: 1 to 1,000, default 5. */
  readonly perHost?: number
  /** How long a job waits for its host's turn, before it lets jobs of other hosts pass: at least 1 ms, default 2 s. */
  readonly hostWait?: Duration
  /** From the request to the end of the answer, of a job that does not say: 1 ms to 24 h, default 15 s. */
  readonly timeout?: Duration
  /** The most that a job may say: at least `timeout`, and 24 h at most; default `timeout`. */
  readonly maxTimeout?: Duration
  /** Of the connection, within `timeout`: 1 ms to 24 h, default 5 s. */
  readonly connectTimeout?: Duration
  /** Of an answer, that are kept: up to 160 KiB, default 64 KiB. */
  readonly maxResponseBytes?: number
  /** Of a request: up to 16 MiB, default 256 KiB. */
  readonly maxBodyBytes?: number
  /** One line, in Latin-1; default `millrace-webhooks`. */
  readonly userAgent?: string
  /** The authorities whose servers are trusted, PEM; default the public ones. */
  readonly ca?: string
  /** How names are resolved; default `lookup` of node:dns. */
  readonly lookup?: Lookup
  /** More headers of each request, asked for within its run: the context of a trace. What the job names itself goes before. Default none. */
  readonly propagate?: () => Readonly<Record<string, string>>
  /** Told that a receiver has answered 410; awaited before the job fails. Default: nobody is. */
  readonly gone?: (url: string, job: JobInfo) => void | Promise<void>
  /** @internal */
  readonly clock?: Clock
}

export interface HandlerSettings extends TargetRules {
  readonly keyring: Keyring<[JobInfo]>
  readonly perHost: number
  readonly hostWaitMs: number
  readonly timeoutMs: number
  readonly maxTimeoutMs: number
  readonly connectTimeoutMs: number
  readonly maxResponseBytes: number
  readonly maxBodyBytes: number
  readonly userAgent: string
  readonly ca: string | undefined
  readonly lookup: Lookup
  readonly propagate: () => Readonly<Record<string, string>>
  readonly gone: ((url: string, job: JobInfo) => void | Promise<void>) | undefined
  readonly clock: Clock
}

const KNOWN: ReadonlySet<string> = new Set<keyof WebhookHandlerOptions>([
  'secrets',
  'allowPrivate',
  'allowHttp',
  'ports',
  'allowHosts',
  'perHost',
  'hostWait',
  'timeout',
  'maxTimeout',
  'maxAttempts',
  'backoff',
  'connectTimeout',
  'maxResponseBytes',
  'maxBodyBytes',
  'userAgent',
  'ca',
  'lookup',
  'propagate',
  'gone',
  'clock',
])

const PER_HOST_MAX = 1_000
/** The output is stored as JSON, of which a byte may take six; and 1 MiB is what an engine takes by default. */
const RESPONSE_MAX = 160 * 1_024
const BODY_MAX = 16 * 2 ** 20

/** @throws OptionTypeError, OptionRangeError */
export function validateHandlerOptions(options: unknown = {}): HandlerSettings {
  checkKnown('webhookHandler', options, KNOWN)
  const { secrets = {}, allowPrivate = false, allowHttp = false, ports, allowHosts, userAgent = 'millrace-webhooks', ca, gone } = options
  const { propagate = () => ({}) } = options
  const { perHost = 5, hostWait = 2_000, timeout = 15_000, connectTimeout = 5_000, lookup = systemLookup, clock = systemClock } = options
  const { maxTimeout = timeout } = options
  const { maxResponseBytes = 64 * 1_024, maxBodyBytes = 256 * 1_024 } = options
  const timeoutMs = durationOption('timeout', timeout, { min: 1, max: TIMEOUT_MAX_MS })
  const http = booleanOption('allowHttp', allowHttp)
  return {
    keyring: keyring(secrets),
    allowPrivate: booleanOption('allowPrivate', allowPrivate),
    allowHttp: http,
    ports: portsOption(ports ?? (http ? [443, 8443, 80, 8080] : [443, 8443])),
    allowHosts: allowHosts === undefined ? undefined : hostTest(hostsOption('allowHosts', allowHosts)),
    perHost: integerOption('perHost', perHost, 1, PER_HOST_MAX),
    hostWaitMs: durationOption('hostWait', hostWait, { min: 1, max: 30_000 }),
    timeoutMs,
    maxTimeoutMs: durationOption('maxTimeout', maxTimeout, { min: timeoutMs, max: TIMEOUT_MAX_MS }),
    connectTimeoutMs: durationOption('connectTimeout', connectTimeout, { min: 1, max: TIMEOUT_MAX_MS }),
    maxResponseBytes: integerOption('maxResponseBytes', maxResponseBytes, 0, RESPONSE_MAX),
    maxBodyBytes: integerOption('maxBodyBytes', maxBodyBytes, 0, BODY_MAX),
    userAgent: headerOption('userAgent', userAgent),
    ca: ca === undefined ? undefined : certificatesOption('ca', ca),
    lookup: functionOption('lookup', lookup) as Lookup,
    propagate: functionOption('propagate', propagate) as HandlerSettings['propagate'],
    gone: gone === undefined ? undefined : (functionOption('gone', gone) as NonNullable<HandlerSettings['gone']>),
    clock: clock as Clock,
  }
}

function portsOption(ports: unknown): ReadonlySet<number> | 'any' {
  if (ports === 'any') return 'any'
  if (!Array.isArray(ports)) throw new OptionTypeError('ports', `ports must be an array of numbers, or 'any', got ${describe(ports)}`)
  return new Set(ports.map((port, index) => integerOption(`ports[${index}]`, port, 1, 65_535)))
}

function headerOption(option: string, value: unknown): string {
  const text = textOf(option, value)
  if (HEADER_VALUE.test(text)) return text
  throw new OptionTypeError(option, `${option} must be a string of one line, in Latin-1, got ${describe(value)}`)
}

/** Looked at here, since TLS takes what is no certificate for none at all, and then trusts nobody. */
function certificatesOption(option: string, value: unknown): string {
  const text = textOf(option, value)
  const certificates = text.split(/(?=-----BEGIN )/).filter((block) => /^-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/.test(block))
  try {
    for (const certificate of certificates) new X509Certificate(certificate)
  } catch (error) {
    throw new OptionTypeError(option, `${option} has a certificate that cannot be read: ${String(error)}`)
  }
  if (certificates.length > 0) return text
  throw new OptionTypeError(option, `${option} must have one certificate or more in PEM: the content of a file, not its path`)
}

function textOf(option: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value
  throw new OptionTypeError(option, `${option} must be a string, got ${describe(value)}`)
}

function functionOption(option: string, value: unknown): unknown {
  if (typeof value === 'function') return value
  throw new OptionTypeError(option, `${option} must be a function, got ${describe(value)}`)
}

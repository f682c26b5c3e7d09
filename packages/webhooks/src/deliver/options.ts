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

/** The options of `webhookHandler`. */
export interface WebhookHandlerOptions extends RetrySettings {
  /** Secrets by the names that jobs give, each for one receiver, with its hosts; or a function. Default none. */
  readonly secrets?: Secrets
  /** Allows webhooks to private networks and to this machine. Default false. */
  readonly allowPrivate?: boolean
  /** Allows http URLs. Default false: only https. */
  readonly allowHttp?: boolean
  /** The allowed ports. Default 443 and 8443, with `allowHttp` 80 and 8080 as well. */
  readonly ports?: readonly number[] | 'any'
  /** The allowed hosts, without ports: `example.com`, or `*.example.com` for its subdomains. Default all. */
  readonly allowHosts?: readonly string[]
  /** The number of concurrent requests to one host: 1 to 1,000, default 5. */
  readonly perHost?: number
  /** The time that a job waits for its host's turn before it lets jobs of other hosts pass: 1 ms to 30 s, default 2 s. */
  readonly hostWait?: Duration
  /** The time from the request to the end of the answer, for jobs that set none: 1 ms to 24 h, default 15 s. */
  readonly timeout?: Duration
  /** The longest timeout that a job may set: at least `timeout`, at most 24 h; default `timeout`. */
  readonly maxTimeout?: Duration
  /** The time to connect, within `timeout`: 1 ms to 24 h, default 5 s. */
  readonly connectTimeout?: Duration
  /** The number of bytes of an answer that are kept: up to 160 KiB, default 64 KiB. */
  readonly maxResponseBytes?: number
  /** The maximum size of a request's body: up to 16 MiB, default 256 KiB. */
  readonly maxBodyBytes?: number
  /** The `user-agent` header: one line, in Latin-1; default `millrace-webhooks`. */
  readonly userAgent?: string
  /** The trusted certificate authorities, in PEM; default the public ones. */
  readonly ca?: string
  /** The function that resolves host names; default `lookup` of node:dns. */
  readonly lookup?: Lookup
  /** Returns more headers for a request, within its run, such as a trace context. The job's own headers override them. Default none. */
  readonly propagate?: () => Readonly<Record<string, string>>
  /** Called when a receiver has answered 410, and awaited before the job fails. Default none. */
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
/** The output is stored as JSON, where a byte may take six, and an engine accepts 1 MiB by default. */
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

/** Checks the certificates here, because TLS ignores anything that is not a certificate, and then trusts nobody. */
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

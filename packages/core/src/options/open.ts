/** The options of `openEngine`. */

import type { Duration } from '../duration.ts'
import { OptionTypeError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import type { QueueDefaults } from '../queueSettings.ts'
import { DEFAULT_RETENTION, type Retention } from '../retention.ts'
import { booleanOption } from './choice.ts'
import { type Codec, codecOption } from './codec.ts'
import { describe } from './describe.ts'
import { type FileUrl, withoutNul, withoutUrl } from './fileUrl.ts'
import { type Logger, type LoggerOption, quietableLogger } from './logger.ts'
import { defaultsOption } from './queue.ts'
import { choiceOf, durationWithin, integerBetween, optionsReader } from './read.ts'
import { type Redact, redactOption } from './redact.ts'
import { type RetentionOptions, retentionOption } from './retention.ts'
import type { RunOptions } from './runOptions.ts'

/** The options of `openEngine` that do not depend on where the jobs are kept. */
export interface EngineOptions {
  /** `'full'` (default): an answer means that the commit was synced. `'normal'` may lose the last commits on power loss. */
  readonly durability?: 'full' | 'normal'
  /** Jobs of workers that died run again at once (default), or after their backoff. */
  readonly recovery?: 'immediate' | 'backoff'
  /** How long to wait for another owner to go: 0 to 100 years, default 0. */
  readonly waitForOwner?: Duration
  /** Threads of the owner that answer `list`, `flows.get` and `flows.list`: 0 to 8, default 1; with 0 the writer does. */
  readonly readers?: number
  /**
   * True (default): tables of an older version are migrated when they are opened. False: they are refused with SchemaTooOldError, and only
   * `millrace migrate` changes them. New ones are created either way.
   */
  readonly autoMigrate?: boolean
  /**
   * The maximum number of queues: 1 to 1,000,000, default 10,000. A call that would create one more is refused with
   * TooManyQueuesError. Existing queues stay.
   */
  readonly maxQueues?: number
  /** The largest data, output and checkpoint each, from any process, thread or client: 1 byte to 16 MiB, default 1 MiB. */
  readonly maxDataBytes?: number
  /**
   * How long finished jobs and the journal are kept. Default: completed and cancelled jobs 7 days, failed ones 30 days, the journal 7
   * days.
   */
  readonly retention?: RetentionOptions
  /**
   * Options of jobs for which neither the call, nor the definition, nor `defaults` of the queue has a value: `priority`, `weight`, `tokens`,
   * `maxAttempts`, `maxLost`, `maxAge`, `backoff`, `timeout`, `heartbeatTimeout`, `ttl`, `keep`, `logLines`. They apply to jobs that are enqueued while this
   * engine is the owner. Default: those of `defineJob`.
   */
  readonly defaults?: Omit<RunOptions, 'queue'>
  /** Encodes data, output and checkpoint of jobs on this side: the engine and its store never see them. Default none. docs/privacy.md */
  readonly codec?: Codec
  /** Maps what workers here say of their runs (errors, log lines, notes) before it is stored. Default none. */
  readonly redact?: Redact
  /**
   * Hears of failed attempts, of jobs that nobody serves, and of trouble of the engine itself. Default: warnings and errors go to stderr;
   * false or null: nothing is logged.
   */
  readonly logger?: LoggerOption
}

/** The options of `openEngine` for a file. */
export interface OpenOptions extends EngineOptions {
  /** Path or `file:` URL of the database file, created if it does not exist; `':memory:'` for none. */
  readonly file: string | FileUrl
  /**
   * The first process that opens the file owns it. Later ones attach to it over a socket beside the file, and one of them takes over when
   * it is gone. Default false: a second opening is an AlreadyOpenError. Not with `':memory:'`. All openings of one process are one engine,
   * with the options of the first: `codec`, `redact` and `maxDataBytes` must be the same (OptionTypeError). One `stop` ends each opening: a
   * further one counts as another's.
   */
  readonly share?: boolean
  /** The writer's page cache in MiB: 1 to 4,096, default 16. */
  readonly cache?: number
  /**
   * Overwrites deleted data with zeros in the file; default false. docs/privacy.md says what stays in the write-ahead log and in
   * backups, and until when.
   */
  readonly secureDelete?: boolean
  /** `'allow'` opens files on network and shared file systems, which lose locks and syncs, and files with hard links; default `'refuse'`. */
  readonly unsafeFilesystem?: 'refuse' | 'allow'
  /**
   * Users who may read and write the file and those beside it: `'owner'` (mode 0600), or `'group'` (0660), the group of the file as
   * well. Sets the mode of files that exist, too. Default: new files are 0600; files that every user can read become 0600; and a file
   * that only its group can read stays so, with a warning. No effect on Windows.
   */
  readonly fileAccess?: FileAccess
}

export type FileAccess = 'owner' | 'group'

/**
 * The options of `openEngine` for a schema of Postgres. Its processes share it: one of them owns it, and the others attach to that one. All
 * openings of one process are one engine, as those of a shared file are.
 */
export interface OpenPostgresOptions extends EngineOptions {
  /** The server and the database: `postgres://user:password@host:port/database`. The server itself, and no pooler. */
  readonly postgres: string
  /**
   * The schema that holds the queue, created if it does not exist: 1 to 63 lower-case letters, digits and `_`, which do not begin with a
   * digit or `pg_`. Default `millrace`.
   */
  readonly schema?: string
  /**
   * `'any'` (default): owns the schema, or attaches to the process that does. `'client'`: only attaches, as short-lived processes should.
   * `'owner'`: only owns; while another process does, an AlreadyOpenError after `waitForOwner`.
   */
  readonly role?: Role
  /**
   * The host, or `host:port`, at which other processes reach this one if it is the owner. Default: the address from which it reaches
   * Postgres, and a free port.
   */
  readonly listen?: string
  /**
   * The way from other processes to the owner. `'auto'` (default): a socket; after three failed attempts, through Postgres. `'socket'`: only a
   * socket. `'postgres'`: only through Postgres, for processes that no network connects.
   */
  readonly transport?: Transport
}

/** The way from a process to the owner of a schema. */
export type Transport = 'auto' | 'socket' | 'postgres'

/** The part that a process may take among those that share a store. */
export type Role = 'any' | 'client' | 'owner'

export interface EngineSettings {
  readonly durability: 'full' | 'normal'
  readonly recovery: 'immediate' | 'backoff'
  readonly waitForOwnerMs: number
  readonly readers: number
  readonly autoMigrate: boolean
  readonly maxQueues: number
  readonly maxDataBytes: number
  readonly retention: Retention
  readonly defaults: QueueDefaults | undefined
  readonly codec: Codec | undefined
  readonly redact: Redact | undefined
  /** Undefined: the default; null: none. */
  readonly logger: Logger | null | undefined
}

export interface OpenSettings extends EngineSettings {
  readonly file: string
  readonly share: boolean
  readonly cacheKib: number
  readonly secureDelete: boolean
  readonly unsafeFilesystem: 'refuse' | 'allow'
  readonly fileAccess: FileAccess | undefined
}

export interface PostgresSettings extends EngineSettings {
  readonly postgres: string
  readonly schema: string
  readonly role: Role
  readonly listen: ListenAt | undefined
  readonly transport: Transport
}

/** The address at which a process listens. */
export interface ListenAt {
  readonly host: string
  /** 0 for a free one. */
  readonly port: number
}

/** The schema of Postgres that holds a queue for which none is named. */
export const DEFAULT_SCHEMA = 'millrace'

const READERS_MAX = 8
const CACHE_MIB_MAX = 4_096
const QUEUES_MAX = 1_000_000

const engineChecks = {
  durability: choiceOf(['full', 'normal']),
  recovery: choiceOf(['immediate', 'backoff']),
  waitForOwner: durationWithin({}),
  readers: integerBetween(0, READERS_MAX),
  autoMigrate: booleanOption,
  maxQueues: integerBetween(1, QUEUES_MAX),
  maxDataBytes: integerBetween(1, LIMITS.bytesPerCommand),
  retention: retentionOption,
  defaults: (_option: string, value: unknown) => defaultsOption(value),
  codec: codecOption,
  redact: redactOption,
  logger: quietableLogger,
}
const fileChecks = {
  file: fileOption,
  share: booleanOption,
  cache: integerBetween(1, CACHE_MIB_MAX),
  secureDelete: booleanOption,
  unsafeFilesystem: choiceOf(['refuse', 'allow']),
  fileAccess: choiceOf(['owner', 'group']),
  ...engineChecks,
}
const postgresChecks = {
  postgres: postgresOption,
  schema: schemaOption,
  role: choiceOf(['any', 'client', 'owner']),
  listen: listenOption,
  transport: choiceOf(['auto', 'socket', 'postgres']),
  ...engineChecks,
}
const readFile = optionsReader('openEngine', fileChecks, { example: "openEngine({ file: 'jobs.db' })" })
const readPostgres = optionsReader('openEngine', postgresChecks)

const DEFAULTS: EngineSettings = {
  durability: 'full',
  recovery: 'immediate',
  waitForOwnerMs: 0,
  readers: 1,
  autoMigrate: true,
  maxQueues: LIMITS.queues,
  maxDataBytes: LIMITS.dataBytes,
  retention: DEFAULT_RETENTION,
  defaults: undefined,
  codec: undefined,
  redact: undefined,
  logger: undefined,
}

/** @throws OptionTypeError, OptionRangeError */
export function validateOpenOptions(options: unknown): OpenSettings {
  const { file = fileOption('file', undefined), waitForOwner = 0, cache = 16, share = false, ...given } = readFile(options)
  if (share && file === ':memory:') throw new OptionTypeError('share', "':memory:' cannot be shared: name a file")
  return {
    ...DEFAULTS,
    file,
    share,
    waitForOwnerMs: waitForOwner,
    cacheKib: cache * 1_024,
    secureDelete: false,
    unsafeFilesystem: 'refuse',
    fileAccess: undefined,
    ...given,
  }
}

/** @throws OptionTypeError, OptionRangeError */
export function validatePostgresOptions(options: object): PostgresSettings {
  if ('file' in options) throw new OptionTypeError('file', 'file and postgres exclude each other: give one of them')
  const { postgres = postgresOption('postgres', undefined), waitForOwner = 0, ...given } = readPostgres(options)
  const sharing = { schema: DEFAULT_SCHEMA, role: 'any', listen: undefined, transport: 'auto' } as const
  return { ...DEFAULTS, ...sharing, postgres, waitForOwnerMs: waitForOwner, ...given }
}

export function fileOption(option: string, value: unknown): string {
  const file = withoutUrl(option, value)
  if (typeof file !== 'string' || file.length === 0) {
    throw new OptionTypeError(option, `${option} must be the path of the database file, or ':memory:', got ${describe(file)}`)
  }
  return withoutNul(option, file)
}

/** The value is never shown: it may have a password. */
export function postgresOption(option: string, value: unknown): string {
  if (typeof value !== 'string' || !/^postgres(?:ql)?:\/\/\S+$/.test(value))
    throw new OptionTypeError(option, `${option} must be a URL such as postgres://user:password@host:5432/database, got ${shapeOf(value)}`)
  return value
}

/** Returns the name of a schema in messages. It has no password. */
export function schemaName(postgres: string, schema: string): string {
  const [, authority = '', path = ''] = /^\w+:\/\/([^/?]*)(\/[^?]*)?/.exec(postgres) ?? []
  // A slash in the password.
  if (path.includes('@')) return `schema ${schema}`
  const [, inQuery] = /[?&]host=([^&]*)/.exec(postgres) ?? []
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  return `schema ${schema} at ${inQuery === undefined ? host : decodeURIComponent(inQuery)}${path}`
}

function shapeOf(value: unknown): string {
  return typeof value === 'string' ? 'another string' : describe(value)
}

const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/

/** Returns the name of a schema. @throws OptionTypeError */
export function schemaOption(option: string, value: unknown): string {
  if (typeof value === 'string' && SCHEMA_NAME.test(value) && !value.startsWith('pg_')) return value
  throw new OptionTypeError(
    option,
    `${option} must have 1 to 63 lower-case letters, digits and underscores, and must not begin with a digit or pg_, got ${describe(value)}`,
  )
}

/** A host name, an IPv4 address, or an IPv6 address in brackets; then maybe a port. */
const LISTEN = /^(?:\[([0-9a-f:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/i
const PORT_MAX = 65_535

function listenOption(option: string, value: unknown): ListenAt {
  const [, bracketed, plain, port = '0'] = (typeof value === 'string' && LISTEN.exec(value)) || []
  const host = bracketed ?? plain
  if (host === undefined || Number(port) > PORT_MAX)
    throw new OptionTypeError(option, `${option} must be a host or host:port, such as 10.0.0.5:7411 or [::1]:7411, got ${describe(value)}`)
  return { host, port: Number(port) }
}

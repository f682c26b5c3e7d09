/** The options of `openEngine`. */
import type { Duration } from '../duration.ts'
import { OptionTypeError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import type { QueueDefaults } from '../queueSettings.ts'
import type { Retention } from '../retention.ts'
import { booleanOption, choiceOption } from './choice.ts'
import { type Codec, codecOption } from './codec.ts'
import { describe } from './describe.ts'
import { integerOption } from './integer.ts'
import { checkKnown } from './known.ts'
import { type Logger, type LoggerOption, quietableLogger } from './logger.ts'
import { durationOption } from './milliseconds.ts'
import { defaultsOption } from './queue.ts'
import { type Redact, redactOption } from './redact.ts'
import { type RetentionOptions, retentionOption } from './retention.ts'
import type { RunOptions } from './runOptions.ts'

export interface OpenOptions {
  /** Path of the database file, created where it is not there yet; `':memory:'` for none. */
  readonly file: string
  /** `'full'` (default): an answer means that the commit was synced. `'normal'` may lose the last commits on power loss. */
  readonly durability?: 'full' | 'normal'
  /** Jobs of workers that died run again at once (default), or after their backoff. */
  readonly recovery?: 'immediate' | 'backoff'
  /**
   * The first process that opens the file owns it; later ones attach to that one over a socket beside the file, and one of them takes
   * over when it is gone. Default false: a second opening is an AlreadyOpenError. Not with `':memory:'`. All openings of one process are
   * one engine, with the options of the first: `codec`, `redact` and `maxDataBytes` are to be the same (OptionTypeError). Each is ended by
   * one `stop`: a further one counts as another's.
   */
  readonly share?: boolean
  /** How long to wait for another owner of the file to go: 0 to 100 years, default 0. */
  readonly waitForOwner?: Duration
  /** Threads that answer `list` and `flows.get`: 0 to 8, default 1; with 0 the writer does. */
  readonly readers?: number
  /** The writer's page cache in MiB: 1 to 4,096, default 16. */
  readonly cache?: number
  /**
   * Overwrites deleted data with zeros in the file; default false. docs/privacy.md says what stays in the write-ahead log and in
   * backups, and until when.
   */
  readonly secureDelete?: boolean
  /**
   * The most queues that the file may have: 1 to 1,000,000, default 10,000. Whatever would make another one is refused with
   * TooManyQueuesError; queues that are there already stay.
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
   * Options of jobs for which neither the call, nor the definition, nor `defaults` of the queue has a value: `priority`, `weight`,
   * `maxAttempts`, `maxAge`, `backoff`, `timeout`, `heartbeatTimeout`, `ttl`. They apply to jobs that are enqueued while this engine owns
   * the file. Default: those of `defineJob`.
   */
  readonly defaults?: Omit<RunOptions, 'queue'>
  /** Encodes data, output and checkpoint of jobs on this side: the engine and its file never see them. Default none. docs/privacy.md */
  readonly codec?: Codec
  /** Maps what workers here say of their runs (errors, log lines, notes) before it is stored. Default none. */
  readonly redact?: Redact
  /**
   * Hears of failed attempts, of jobs that nobody serves, and of trouble of the engine itself. Default: warnings and errors go to stderr;
   * false or null: nothing is logged.
   */
  readonly logger?: LoggerOption
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

export interface OpenSettings {
  readonly file: string
  readonly durability: 'full' | 'normal'
  readonly recovery: 'immediate' | 'backoff'
  readonly share: boolean
  readonly waitForOwnerMs: number
  readonly readers: number
  readonly cacheKib: number
  readonly secureDelete: boolean
  readonly maxQueues: number
  readonly maxDataBytes: number
  readonly retention: Retention
  readonly defaults: QueueDefaults | undefined
  readonly codec: Codec | undefined
  readonly redact: Redact | undefined
  /** Undefined: the default; null: none. */
  readonly logger: Logger | null | undefined
  readonly unsafeFilesystem: 'refuse' | 'allow'
  readonly fileAccess: FileAccess | undefined
}

const KNOWN = new Set([
  'file',
  'durability',
  'recovery',
  'share',
  'waitForOwner',
  'readers',
  'cache',
  'secureDelete',
  'maxQueues',
  'maxDataBytes',
  'retention',
  'defaults',
  'codec',
  'redact',
  'logger',
  'unsafeFilesystem',
  'fileAccess',
])
const READERS_MAX = 8
const CACHE_MIB_MAX = 4_096
const QUEUES_MAX = 1_000_000

/** @throws OptionTypeError, OptionRangeError */
export function validateOpenOptions(options: unknown): OpenSettings {
  checkKnown('openEngine', options, KNOWN, "openEngine({ file: 'jobs.db' })")
  const { durability = 'full', recovery = 'immediate', waitForOwner = 0, readers = 1, cache = 16, share = false } = options
  const {
    maxQueues = LIMITS.queues,
    maxDataBytes = LIMITS.dataBytes,
    retention,
    logger,
    unsafeFilesystem = 'refuse',
    secureDelete = false,
  } = options
  const { defaults, codec, redact, fileAccess } = options
  const file = fileOption(options['file'])
  return {
    file,
    durability: choiceOption('durability', durability, ['full', 'normal']),
    recovery: choiceOption('recovery', recovery, ['immediate', 'backoff']),
    share: shareOption(file, share),
    waitForOwnerMs: durationOption('waitForOwner', waitForOwner),
    readers: integerOption('readers', readers, 0, READERS_MAX),
    cacheKib: integerOption('cache', cache, 1, CACHE_MIB_MAX) * 1_024,
    secureDelete: booleanOption('secureDelete', secureDelete),
    maxQueues: integerOption('maxQueues', maxQueues, 1, QUEUES_MAX),
    maxDataBytes: integerOption('maxDataBytes', maxDataBytes, 1, LIMITS.bytesPerCommand),
    retention: retentionOption('retention', retention),
    defaults: defaults === undefined ? undefined : defaultsOption(defaults),
    codec: codec === undefined ? undefined : codecOption('codec', codec),
    redact: redact === undefined ? undefined : redactOption('redact', redact),
    logger: quietableLogger('logger', logger),
    unsafeFilesystem: choiceOption('unsafeFilesystem', unsafeFilesystem, ['refuse', 'allow']),
    fileAccess: fileAccess === undefined ? undefined : choiceOption('fileAccess', fileAccess, ['owner', 'group']),
  }
}

function shareOption(file: string, share: unknown): boolean {
  const wanted = booleanOption('share', share)
  if (wanted && file === ':memory:') throw new OptionTypeError('share', "':memory:' cannot be shared: name a file")
  return wanted
}

function fileOption(file: unknown): string {
  if (typeof file !== 'string' || file.length === 0) {
    throw new OptionTypeError('file', `file must be the path of the database file, or ':memory:', got ${describe(file)}`)
  }
  const nul = file.indexOf('\0')
  if (nul >= 0) throw new OptionTypeError('file', `file has a control character (U+0000) at position ${nul}`)
  return file
}

/** Opens a queue. */
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { MessagePort } from 'node:worker_threads'
import { Engine, JobChecks, loggerOrDefault } from '@millrace/client'
import {
  type Codec,
  codecOption,
  type EngineSettings,
  integerBetween,
  LIMITS,
  type LoggerOption,
  type OpenOptions,
  type OpenPostgresOptions,
  type OpenSettings,
  OptionTypeError,
  optionsReader,
  type Port,
  type PostgresSettings,
  quietableLogger,
  type Redact,
  type Role,
  redactOption,
  UnsupportedError,
  validateOpenOptions,
  validatePostgresOptions,
} from '@millrace/core'
import { apart } from '@millrace/worker'
import { quietClock, systemClock, systemRandom } from './clock.ts'
import { fileStore } from './file/fileStore.ts'
import { MEMORY } from './file/options.ts'
import { realFile } from './file/realFile.ts'
import { assertNotOpen, joinShared, type Membership, registerFile } from './file/registry.ts'
import { ChannelPort } from './ports/channel.ts'
import { loadPostgres } from './postgres/load.ts'
import { greetingOf, ReaderLine } from './readers/attachedReaders.ts'
import { Readers } from './readers/readers.ts'
import { ReadingPort } from './readers/readRouter.ts'
import { assertDriver, assertRuntime } from './runtime.ts'
import { SharedPort } from './share/sharedPort.ts'
import type { StoreModule } from './storeModule.ts'
import { WriterThread } from './writer/thread.ts'

/**
 * Opens the file or the schema of Postgres, creating it if it does not exist, and starts the writer thread that owns it. With `share`, and
 * with Postgres, all openings in one process return the same engine, which ends when it was stopped as often as it was opened; if another
 * process is the owner, the engine is attached to it.
 *
 * @example
 * ```ts
 * const engine = await openEngine({ file: 'jobs.db' })
 * const engine = await openEngine({ postgres: 'postgres://queue@db.example/app' })
 * ```
 * @throws OptionTypeError, OptionRangeError for a wrong option, or if this process shares the store by an engine with
 * another `codec`, `redact` or `maxDataBytes`; AlreadyOpenError if another process (or this one) has the store;
 * NotADatabaseError, FileTruncatedError, ForeignLogError, SchemaTooNewError, SchemaTooOldError, NotWritableError, UnsafeFilesystemError,
 * StorageError if it cannot be used; ConnectFailedError if no process owns the schema and the role is `client`; UnsupportedRuntimeError if
 * this runtime, or a bundle of the engine, cannot work; EngineFailedError if the system has no thread left for the writer.
 */
export async function openEngine(options: OpenOptions | OpenPostgresOptions): Promise<Engine> {
  return apart(openApart, options)
}

async function openApart(options: OpenOptions | OpenPostgresOptions): Promise<Engine> {
  if (typeof options === 'object' && options !== null && 'postgres' in options) return openSchema(validatePostgresOptions(options))
  const settings = validateOpenOptions(options)
  assertRuntime()
  assertDriver()
  const file = settings.file === MEMORY ? settings.file : resolve(settings.file)
  if (!settings.share) return openFile(file, settings)
  // An engine that is not shared may have it open.
  assertNotOpen(file)
  return joinShared({ key: realFile(file), name: file }, settings, (membership) =>
    openShared(storeOf(file, settings), { ...settings, role: 'any' }, membership),
  )
}

async function openSchema(settings: PostgresSettings): Promise<Engine> {
  assertRuntime()
  const { postgres, schema } = settings
  const [driver, { postgresStore }] = await Promise.all([loadPostgres(), import('./postgres/postgresStore.ts')])
  return joinShared({ key: `${postgres} ${schema}`, name: `schema ${schema}` }, settings, (membership) =>
    openShared(postgresStore(driver, settings), settings, membership),
  )
}

/** Opens a file that no other process may attach to. */
export async function openFile(file: string, settings: OpenSettings): Promise<Engine> {
  if (file === MEMORY) return openAlone(storeOf(file, settings), settings)
  assertNotOpen(file)
  return openAlone(storeOf(file, settings), settings, () => registerFile(file))
}

/** Starts an engine that no other process can attach to. @param register called when it runs; what it returns, when it has ended */
export async function openAlone(store: StoreModule, settings: EngineSettings, register = () => () => {}): Promise<Engine> {
  const thread = newThread(store, settings)
  await thread.start()
  return new Engine(thread, {
    ...setupOf(settings),
    openChannel: () => thread.openChannel(),
    openPort: () => thread.openPort(),
    declareDead: (sessions) => thread.declareDead(sessions),
    closed: register(),
  })
}

interface SharedSettings extends EngineSettings {
  readonly role: Role
}

async function openShared(store: StoreModule, settings: SharedSettings, { leave, ended }: Membership): Promise<Engine> {
  const { waitForOwnerMs, role } = settings
  const checks = new JobChecks()
  const port = await SharedPort.open({
    ownership: store.ownership(),
    gone: store.gone,
    newThread: () => newThread(store, settings),
    clock: systemClock,
    quietClock,
    random: systemRandom,
    logger: settings.logger ?? undefined,
    checks,
    // An owner waits for none to start.
    patienceMs: role === 'owner' ? waitForOwnerMs : Math.max(waitForOwnerMs, OWNER_STARTS_MS),
    role,
  })
  const here = <T>(opened: T | undefined): T => {
    if (opened === undefined) throw new UnsupportedError('the engine of this store is in another process: port() is for its threads alone')
    return opened
  }
  return new Engine(port, {
    ...setupOf(settings),
    checks,
    openChannel: () => here(port.openChannel()),
    openPort: () => here(port.openPort()),
    leave,
    closed: ended,
  })
}

function storeOf(file: string, settings: OpenSettings): StoreModule {
  const { durability, cacheKib, secureDelete, autoMigrate, unsafeFilesystem, fileAccess, waitForOwnerMs, share } = settings
  return fileStore({
    file,
    durability,
    cacheKib,
    secureDelete,
    autoMigrate,
    unsafeFilesystem,
    fileAccess,
    // If the file is shared, its owner is attached to instead of waited for.
    waitForOwnerMs: share ? 0 : waitForOwnerMs,
  })
}

function newThread(
  store: StoreModule,
  { recovery, retention, defaults, maxQueues, maxDataBytes, readers, logger }: EngineSettings,
): WriterThread {
  return new WriterThread({
    store,
    settings: { recovery, retention, defaults, maxQueues, maxDataBytes },
    clock: systemClock,
    readers: store.reader === undefined || readers === 0 ? undefined : new Readers(store.reader, readers),
    logger: loggerOrDefault(logger),
  })
}

function setupOf({ maxDataBytes, codec, redact, logger }: EngineSettings) {
  return { maxDataBytes, codec, redact, ...HERE, logger: loggerOrDefault(logger) }
}

const HERE = { clock: systemClock, quietClock, host: hostname(), pid: process.pid, local: true }
/** The shortest patience: an owner that has just started may not answer yet. */
const OWNER_STARTS_MS = 10_000

/** The options of `attach`. */
export interface AttachOptions {
  /**
   * The maximum size of data, output and checkpoint each: 1 byte to 16 MiB, default 1 MiB. The limit that the engine was
   * opened with applies as well.
   */
  readonly maxDataBytes?: number
  /** Encodes data, output and checkpoint of jobs in this thread. Default none. */
  readonly codec?: Codec
  /** Maps what workers of this thread report about their runs before it is stored. Default none. */
  readonly redact?: Redact
  /** The logger, as in `openEngine`. Default: warnings and errors go to stderr. */
  readonly logger?: LoggerOption
}

/**
 * Opens the same engine from another thread, by the port that `engine.port()` returned there. A port can be attached to
 * once. The attached engine ends when that engine stops. It also ends when the writer thread dies and is restarted, which
 * the original engine survives. Calls and `result()` here then reject with EngineStoppedError (with CommitUnknownError if
 * they were sent and not answered), and workers here end. To continue, attach another `port()` of the engine.
 *
 * @example
 * ```ts
 * const engine = attach(workerData.port)
 * await engine.enqueue('send-mail', { to: 'ada@example.com' })
 * ```
 * @throws OptionTypeError, OptionRangeError for a wrong port or option.
 */
export function attach(port: unknown, options: AttachOptions = {}): Engine {
  if (!(port instanceof MessagePort)) {
    throw new OptionTypeError('port', 'attach takes the MessagePort of engine.port(), transferred to this thread')
  }
  const { logger, ...given } = readAttach(options)
  const setup = { maxDataBytes: LIMITS.dataBytes, ...given, ...HERE, logger: loggerOrDefault(logger) }
  return new Engine(attachedPort(port), setup)
}

/** Returns a Port to the writer itself. Only pages are requested by way of the thread that opened the file. */
function attachedPort(port: MessagePort): Port {
  const greeting = greetingOf(port)
  if (greeting === undefined) {
    throw new OptionTypeError('port', 'attach takes a MessagePort of engine.port(), and each of them once')
  }
  const writer = new ChannelPort(port)
  const readers = greeting.line && new ReaderLine(greeting.line)
  if (readers !== undefined) port.once('close', () => readers.close())
  return new ReadingPort(writer, readers, (change) => writer.noteSession(change))
}

const readAttach = optionsReader('attach', {
  maxDataBytes: integerBetween(1, LIMITS.bytesPerCommand),
  codec: codecOption,
  redact: redactOption,
  logger: quietableLogger,
})

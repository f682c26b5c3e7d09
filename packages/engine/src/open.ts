/** Opens a queue. */
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { MessagePort } from 'node:worker_threads'
import { Engine, JobChecks, loggerOrDefault } from '@millrace/client'
import {
  type Codec,
  checkKnown,
  codecOption,
  integerOption,
  LIMITS,
  type LoggerOption,
  type OpenOptions,
  type OpenSettings,
  OptionTypeError,
  type Port,
  quietableLogger,
  type Redact,
  redactOption,
  UnsupportedError,
  validateOpenOptions,
} from '@millrace/core'
import { quietClock, systemClock, systemRandom } from './clock.ts'
import { ChannelPort } from './ports/channel.ts'
import { ReadingPort } from './readers/asked.ts'
import { greetingOf, ReaderLine } from './readers/line.ts'
import { Readers } from './readers/readers.ts'
import { assertNotOpen, joinShared, type Membership, registerFile } from './registry.ts'
import { assertRuntime } from './runtime.ts'
import { meetingOf } from './share/address.ts'
import { SharedPort } from './share/sharedPort.ts'
import { WriterThread } from './writer/thread.ts'

/**
 * Opens the file, creating it where it is not there yet, and starts the writer thread that owns it. With `share`, all openings of one
 * process answer one engine, which ends when it was stopped as often as it was opened.
 *
 * @throws OptionTypeError, OptionRangeError for a wrong option, also where this process shares the file by an engine that has another
 * `codec`, `redact` or `maxDataBytes`; AlreadyOpenError where another process (or this one) has the
 * file; NotADatabaseError, FileTruncatedError, ForeignLogError, SchemaTooNewError, NotWritableError, UnsafeFilesystemError where the file cannot be used;
 * UnsupportedRuntimeError where this runtime, or a bundle of the engine, cannot work; EngineFailedError where the system has no thread
 * left for the writer.
 */
export async function openEngine(options: OpenOptions): Promise<Engine> {
  const settings = validateOpenOptions(options)
  assertRuntime()
  const file = settings.file === MEMORY ? settings.file : resolve(settings.file)
  return settings.share ? joinShared(file, settings, (membership) => openShared(file, settings, membership)) : openOwn(file, settings)
}

async function openOwn(file: string, settings: OpenSettings): Promise<Engine> {
  if (file !== MEMORY) assertNotOpen(file)
  const thread = newThread(file, settings)
  await thread.start()
  return new Engine(thread, {
    ...setupOf(settings),
    openChannel: () => thread.openChannel(),
    openPort: () => thread.openPort(),
    declareDead: (sessions) => thread.declareDead(sessions),
    closed: file === MEMORY ? () => {} : registerFile(file),
  })
}

async function openShared(file: string, settings: OpenSettings, { leave, ended }: Membership): Promise<Engine> {
  // By an engine that is not shared.
  assertNotOpen(file)
  const { waitForOwnerMs } = settings
  const checks = new JobChecks()
  const port = await SharedPort.open({
    file,
    ...meetingOf(file),
    newThread: () => newThread(file, settings),
    clock: systemClock,
    quietClock,
    random: systemRandom,
    logger: settings.logger ?? undefined,
    checks,
    patienceMs: Math.max(waitForOwnerMs, OWNER_STARTS_MS),
  })
  const here = <T>(opened: T | undefined): T => {
    if (opened === undefined)
      throw new UnsupportedError('the engine of this shared file is in another process: port() is for its threads alone')
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

function newThread(file: string, settings: OpenSettings): WriterThread {
  const { durability, recovery, retention, maxQueues, maxDataBytes, cacheKib, secureDelete, waitForOwnerMs, unsafeFilesystem, share } =
    settings
  const { defaults, fileAccess, logger } = settings
  const readers = file === MEMORY || settings.readers === 0 ? undefined : new Readers(file, settings.readers)
  // Of a file that is shared, whoever has it is attached to, and not waited for.
  const waitMs = share ? 0 : waitForOwnerMs
  return new WriterThread(
    {
      file,
      durability,
      recovery,
      waitForOwnerMs: waitMs,
      cacheKib,
      secureDelete,
      retention,
      defaults,
      maxQueues,
      maxDataBytes,
      unsafeFilesystem,
      fileAccess,
    },
    systemClock,
    readers,
    loggerOrDefault(logger),
  )
}

function setupOf({ maxDataBytes, codec, redact, logger }: OpenSettings) {
  return { maxDataBytes, codec, redact, ...HERE, logger: loggerOrDefault(logger) }
}

const HERE = { clock: systemClock, quietClock, host: hostname(), pid: process.pid, local: true }
const MEMORY = ':memory:'
/** An owner that has just begun may not be heard yet. */
const OWNER_STARTS_MS = 10_000

export interface AttachOptions {
  /**
   * The most that data, output and checkpoint may have each: 1 byte to 16 MiB, default 1 MiB. What the engine was opened with holds as
   * well.
   */
  readonly maxDataBytes?: number
  /** Encodes data, output and checkpoint of jobs in this thread. Default none. */
  readonly codec?: Codec
  /** Maps what workers of this thread say of their runs before it is stored. Default none. */
  readonly redact?: Redact
  /** As in `openEngine`. Default: warnings and errors go to stderr. */
  readonly logger?: LoggerOption
}

/**
 * The same engine from another thread: takes what `engine.port()` answered there, once. It ends where that engine stops, and also where
 * its writer dies and is started again, which the engine itself outlives: calls and `result()` here then reject with EngineStoppedError
 * (with CommitUnknownError what was sent and not answered), and workers here end. Attach another `port()` of the engine to go on.
 *
 * @throws OptionTypeError, OptionRangeError for a wrong port or option.
 */
export function attach(port: unknown, options: AttachOptions = {}): Engine {
  if (!(port instanceof MessagePort)) {
    throw new OptionTypeError('port', 'attach takes the MessagePort of engine.port(), transferred to this thread')
  }
  checkKnown('attach', options, ATTACH_KNOWN)
  const { maxDataBytes = LIMITS.dataBytes, codec, redact, logger } = options
  const setup = {
    maxDataBytes: integerOption('maxDataBytes', maxDataBytes, 1, LIMITS.bytesPerCommand),
    ...(codec !== undefined && { codec: codecOption('codec', codec) }),
    ...(redact !== undefined && { redact: redactOption('redact', redact) }),
    ...HERE,
    logger: loggerOrDefault(quietableLogger('logger', logger)),
  }
  return new Engine(attachedPort(port), setup)
}

/** To the writer itself; only pages are asked for by way of the thread that opened the file. */
function attachedPort(port: MessagePort): Port {
  const greeting = greetingOf(port)
  if (greeting === undefined) {
    throw new OptionTypeError('port', 'attach takes a MessagePort of engine.port(), and each of them once')
  }
  const writer = new ChannelPort(port)
  if (greeting.line === undefined) return writer
  const readers = new ReaderLine(greeting.line)
  port.once('close', () => readers.close())
  return new ReadingPort(writer, readers)
}

const ATTACH_KNOWN = new Set(['maxDataBytes', 'codec', 'redact', 'logger'])

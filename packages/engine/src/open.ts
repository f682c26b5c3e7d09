/** Opens a queue. */
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { MessagePort } from 'node:worker_threads'
import { Engine } from '@millrace/client'
import { checkKnown, integerOption, LIMITS, type OpenOptions, OptionTypeError, validateOpenOptions } from '@millrace/core'
import { systemClock } from './clock.ts'
import { ChannelPort } from './ports/channel.ts'
import { Readers } from './readers/readers.ts'
import { assertNotOpen, registerFile } from './registry.ts'
import { assertRuntime } from './runtime.ts'
import { WriterThread } from './writer/thread.ts'

/**
 * Opens the file, creating it where it is not there yet, and starts the writer thread that owns it.
 *
 * @throws OptionTypeError, OptionRangeError for a wrong option; AlreadyOpenError where another process (or this one) has the
 * file; NotADatabaseError, SchemaTooNewError, NotWritableError, UnsafeFilesystemError where the file cannot be used;
 * UnsupportedRuntimeError where this runtime, or a bundle of the engine, cannot work.
 */
export async function openEngine(options: OpenOptions): Promise<Engine> {
  const settings = validateOpenOptions(options)
  assertRuntime()
  const inMemory = settings.file === ':memory:'
  const file = inMemory ? settings.file : resolve(settings.file)
  if (!inMemory) assertNotOpen(file)
  const readers = inMemory || settings.readers === 0 ? undefined : new Readers(file, settings.readers)
  const { durability, recovery, retention, cacheKib, waitForOwnerMs, unsafeFilesystem, maxDataBytes, logger } = settings
  const thread = new WriterThread(
    { file, durability, recovery, waitForOwnerMs, cacheKib, retention, unsafeFilesystem },
    systemClock,
    readers,
  )
  await thread.start()
  const release = inMemory ? () => {} : registerFile(file)
  return new Engine(thread, {
    maxDataBytes,
    clock: systemClock,
    host: hostname(),
    pid: process.pid,
    local: true,
    logger,
    openChannel: () => thread.openChannel(),
    openPort: () => new ChannelPort(thread.openChannel()),
    closed: release,
  })
}

export interface AttachOptions {
  /** As the engine was opened with. Default 1 MiB. */
  readonly maxDataBytes?: number
}

/** The same engine from another thread: takes what `engine.port()` answered there. */
export function attach(port: unknown, options: AttachOptions = {}): Engine {
  if (!(port instanceof MessagePort)) {
    throw new OptionTypeError('port', 'attach takes the MessagePort that engine.port() answers, transferred to this thread')
  }
  checkKnown('attach', options, ATTACH_KNOWN)
  const { maxDataBytes = LIMITS.dataBytes } = options
  return new Engine(new ChannelPort(port), {
    maxDataBytes: integerOption('maxDataBytes', maxDataBytes, 1, LIMITS.bytesPerCommand),
    clock: systemClock,
    host: hostname(),
    pid: process.pid,
    local: true,
  })
}

const ATTACH_KNOWN = new Set(['maxDataBytes'])

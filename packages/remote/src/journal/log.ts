/** The files of a producer's journal: written at the end of the last one, read and dropped from the front. */
import { type FileHandle, mkdir, open, readdir, readFile, rm, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Chunk, Source } from '@millrace/client'
import {
  CommitUnknownError,
  DiskFullError,
  NODE_LIMIT,
  NotWritableError,
  type Random,
  type SourceEntry,
  StorageError,
} from '@millrace/core'
import { decodeEntries, encodeEntries } from '@millrace/wire'
import { newSourceId } from '../clock.ts'
import { JournalDamagedError } from '../errors.ts'
import { decodeHeader, encodeHeader, encodeRecord, HEAD_BYTES, HEADER_BYTES, recordAt, type SegmentHeader } from './segment.ts'

/** A file that is longer gets no more records. */
const SEGMENT_BYTES = 8 * 2 ** 20
/** The bytes that are read at a time, unless a single record is longer. */
const CHUNK_BYTES = 256 * 1024
const CHUNK_JOBS = 1_000
const NAME = /^\d{12}\.journal$/
const NO_SPACE: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT'])

interface Segment extends SegmentHeader {
  readonly path: string
  /** The end of its whole records. */
  end: number
  handle: FileHandle | undefined
  /** True once its name is gone: what it has can be read by its handle alone. */
  isNameless?: boolean
}

export interface JournalChunk extends Chunk {
  readonly next: { readonly offset: number; readonly place: number }
}

export class JournalLog {
  readonly #folder: string
  readonly #openFile: typeof open
  #segments: Segment[] = []
  #nextFile = 1
  /** The segment that is written, the last of all. */
  #live: Segment | undefined
  /** The position in the first segment. */
  #offset = HEADER_BYTES
  #place = 0
  /** The bytes of all records that are not dropped yet. */
  bytes = 0

  private constructor(folder: string, openFile: typeof open) {
    this.#folder = folder
    this.#openFile = openFile
  }

  /**
   * Opens the files that earlier processes have left, whole up to their torn end. Tests pass an `openFile` whose files fail.
   *
   * @throws JournalDamagedError if a record is not what was written
   */
  static async open(folder: string, openFile = open): Promise<JournalLog> {
    const log = new JournalLog(folder, openFile)
    const names = (await readdir(folder)).filter((name) => NAME.test(name)).sort()
    for (const name of names) {
      log.#nextFile = Number.parseInt(name, 10) + 1
      const segment = await readSegment(join(folder, name))
      if (segment === undefined) await unlink(join(folder, name))
      else log.#add(segment)
    }
    return log
  }

  static newSource(random: Random): Source {
    return { uuid: newSourceId(), number: 1 + Math.floor(random() * (NODE_LIMIT - 1)) }
  }

  /** The numbers of the sources that have entries here. */
  get numbers(): ReadonlySet<number> {
    return new Set(this.#segments.map(({ number }) => number))
  }

  /**
   * Resolves when the entries are synced. After an error the next ones go to another file: the system does not report the outcome
   * of a failed sync again.
   *
   * @throws DiskFullError, StorageError: nothing of it is stored; CommitUnknownError
   */
  async write(source: Source, first: number, entries: readonly SourceEntry[]): Promise<void> {
    const record = encodeRecord(encodeEntries(entries))
    let live = this.#live
    if (live === undefined || live.uuid !== source.uuid || live.end >= SEGMENT_BYTES) live = await this.#begin({ ...source, first })
    const handle = live.handle as FileHandle
    try {
      await writeWhole(handle, record, live.end)
      await handle.datasync()
      await assertNamed(live, handle)
    } catch (error) {
      const failure = await takeBack(handle, live.end, error as NodeJS.ErrnoException)
      // Not earlier: a file that is no longer written may be read to its end, and removed.
      this.#live = undefined
      throw failure
    }
    live.end += record.length
    this.bytes += record.length
  }

  /** Returns the next entries; undefined if there are none. */
  async read(): Promise<JournalChunk | undefined> {
    for (;;) {
      const [segment] = this.#segments
      if (segment === undefined || (segment === this.#live && this.#offset === segment.end)) return undefined
      if (this.#offset < segment.end) return this.#readChunk(segment)
      await this.#drop(segment)
    }
  }

  /** Drops the entries that were read. */
  async drop({ next }: JournalChunk): Promise<void> {
    const [segment] = this.#segments
    if (segment === undefined) return
    this.bytes -= next.offset - this.#offset
    this.#offset = next.offset
    this.#place = next.place
    if (segment !== this.#live && this.#offset === segment.end) await this.#drop(segment)
  }

  /** Closes the files. If nothing is left to send, no file is left behind. */
  async close(): Promise<void> {
    const [first] = this.#segments
    try {
      if (first !== undefined && first === this.#live && this.#offset === first.end) await this.#drop(first)
    } finally {
      await Promise.all(this.#segments.splice(0).map(({ handle }) => handle?.close()))
    }
  }

  #add(segment: Segment): void {
    if (this.#segments.push(segment) === 1) this.#place = segment.first
    this.bytes += segment.end - HEADER_BYTES
  }

  async #begin(header: SegmentHeader): Promise<Segment> {
    const path = join(this.#folder, `${String(this.#nextFile++).padStart(12, '0')}.journal`)
    let handle: FileHandle | undefined
    try {
      handle = await this.#openFile(path, 'wx+', 0o600)
      await writeWhole(handle, encodeHeader(header), 0)
      await handle.datasync()
      await syncFolder(this.#folder, this.#openFile)
    } catch (error) {
      await handle?.close().catch(() => {})
      await unlink(path).catch(() => {})
      throw failureOf(error as NodeJS.ErrnoException)
    }
    const former = this.#segments.at(-1)
    this.#live = { ...header, path, end: HEADER_BYTES, handle }
    this.#add(this.#live)
    // It is opened again when it is read: otherwise every waiting file would stay open. The first is being read.
    if (former !== this.#segments[0] && former?.isNameless !== true) await letGo(former)
    return this.#live
  }

  async #readChunk(segment: Segment): Promise<JournalChunk> {
    segment.handle ??= await this.#openFile(segment.path, 'r')
    const { handle, end, uuid, number } = segment
    const from = this.#offset
    let bytes = await readAt(handle, from, Math.min(CHUNK_BYTES, end - from))
    const length = HEAD_BYTES + bytes.readUInt32BE(0)
    if (length > bytes.length) bytes = await readAt(handle, from, Math.min(length, end - from))
    const entries: SourceEntry[] = []
    let offset = 0
    let place = this.#place
    while (place - this.#place < CHUNK_JOBS) {
      const found = recordAt(bytes, offset)
      if (found === 'end' || (found === 'torn' && offset > 0)) break
      if (typeof found === 'string') throw damaged(segment.path, from + offset)
      for (const entry of decodeEntries(found.payload)) {
        entries.push(entry)
        place += entry.jobs.length
      }
      offset = found.next
    }
    return { source: { uuid, number }, first: this.#place, entries, next: { offset: from + offset, place } }
  }

  async #drop(segment: Segment): Promise<void> {
    this.#segments.shift()
    if (segment === this.#live) this.#live = undefined
    this.#offset = HEADER_BYTES
    this.#place = this.#segments[0]?.first ?? 0
    await letGo(segment)
    // A file of another may have the name by now.
    if (segment.isNameless !== true) await rm(segment.path, { force: true })
  }
}

/** Nothing may be reported as safe in a file that nobody finds again. @throws if it was deleted, moved or replaced */
async function assertNamed(segment: Segment, handle: FileHandle): Promise<void> {
  const [there, own] = await Promise.all([stat(segment.path).catch((error: NodeJS.ErrnoException) => error.code), handle.stat()])
  // While the system does not say, nothing is taken away.
  if (typeof there === 'string' ? there !== 'ENOENT' : there?.ino === own.ino && there.dev === own.dev) return
  segment.isNameless = true
  throw new Error(`${segment.path} was deleted, moved or replaced under it. The next call goes to another file`)
}

/** Closes the file. Its records are synced, so an error of the close means nothing. */
async function letGo(segment: Segment | undefined): Promise<void> {
  if (segment === undefined) return
  const { handle } = segment
  segment.handle = undefined
  await handle?.close().catch(() => {})
}

/** Creates the folder for its owner alone if it does not exist. @throws NotWritableError */
export async function makeFolder(folder: string): Promise<void> {
  try {
    const first = await mkdir(folder, { recursive: true, mode: 0o700 })
    // A folder's name is stored in the one above it.
    for (let made = folder; first !== undefined && made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made))
  } catch (cause) {
    throw new NotWritableError(`the folder of the journal, ${folder}, cannot be made: ${(cause as Error).message}`, {}, { cause })
  }
}

/** Reads the header and finds the last whole record; undefined if nothing in the file was ever reported as safe. */
async function readSegment(path: string): Promise<Segment | undefined> {
  const bytes = await readFile(path)
  const header = decodeHeader(bytes)
  if (header === undefined) {
    if (bytes.length <= HEADER_BYTES) return undefined
    throw damaged(path, 0)
  }
  let end = HEADER_BYTES
  for (;;) {
    const found = recordAt(bytes, end)
    if (found === 'damaged') throw damaged(path, end)
    if (typeof found === 'string') break
    end = found.next
  }
  return end === HEADER_BYTES ? undefined : { ...header, path, end, handle: undefined }
}

function damaged(path: string, offset: number): JournalDamagedError {
  return new JournalDamagedError(
    `${path} differs from what was written, from byte ${offset} on: move it away to continue with the rest of the journal, and keep it`,
    { file: path, offset },
  )
}

/** Writes all bytes, or throws. */
async function writeWhole(handle: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, at + done)
    done += bytesWritten
  }
}

async function readAt(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length)
  const { bytesRead } = await handle.read(bytes, 0, length, at)
  return bytes.subarray(0, bytesRead)
}

async function takeBack(handle: FileHandle, end: number, error: NodeJS.ErrnoException): Promise<Error> {
  try {
    await handle.truncate(end)
    await handle.datasync()
    return failureOf(error)
  } catch {
    return new CommitUnknownError(`whether the journal has kept the call cannot be known: ${error.message}`, {}, { cause: error })
  }
}

function failureOf(cause: NodeJS.ErrnoException): Error {
  const message = `the journal cannot be written: ${cause.message}`
  return NO_SPACE.has(cause.code) ? new DiskFullError(message, {}, { cause }) : new StorageError(message, {}, { cause })
}

/** Syncs the folder, so that a file's name also survives a power loss. Windows has no such call, and needs none. */
export async function syncFolder(folder: string, openFile = open): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await openFile(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

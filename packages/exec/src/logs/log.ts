/** The output of one run, streamed to files that keep its beginning and its end, within one limit. */
import { constants } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { basename } from 'node:path'

/** `a.log` is being written; `a.1.log` keeps the beginning; `a.2.log` has the output just before `a.log`. */
const FILES = 3
/** The length of the first line of each file but the first. It is fixed, because the line is rewritten when the file before it goes. */
const MARK_BYTES = 128

export class RunLog {
  readonly path: string
  readonly #fileBytes: number
  readonly #first: string
  readonly #second: string
  #file: FileHandle
  /** The number of bytes that `path` can still take. */
  #room: number
  /** Bytes of the output in each file. `path` and `second` are replaced, and the former content of `second` is lost. */
  #firstBytes = 0
  #secondBytes = 0
  #currentBytes = 0
  #dropped = 0
  /** The end of a chain: each write starts after the one before. */
  #written: Promise<void> = Promise.resolve()
  #failure: Error | undefined

  private constructor(path: string, file: FileHandle, maxBytes: number) {
    this.path = path
    this.#file = file
    this.#first = earlierPath(path, 1)
    this.#second = earlierPath(path, 2)
    this.#fileBytes = Math.floor(maxBytes / FILES)
    this.#room = this.#fileBytes
  }

  /** @param maxBytes of all files together, at least 400; each takes a third */
  static async open(path: string, maxBytes: number): Promise<RunLog> {
    const log = new RunLog(path, await openNew(path), maxBytes)
    try {
      // After a restore of the database, the same run may come twice.
      for (const earlier of [log.#first, log.#second]) await rm(earlier, { force: true })
      return log
    } catch (error) {
      await log.#file.close()
      throw error
    }
  }

  /** The reason why the log ends early, for example a full disk. The command continues. */
  get failure(): Error | undefined {
    return this.#failure
  }

  /** The number of bytes of the output that its files have. */
  get bytes(): number {
    return this.#firstBytes + this.#secondBytes + this.#currentBytes
  }

  /** Resolves when a file has the chunk. A reader that waits for this has at most one chunk in memory. Never rejects. */
  write(chunk: Uint8Array): Promise<void> {
    if (this.#failure === undefined) this.#written = this.#written.then(() => this.#append(chunk))
    return this.#written
  }

  async #append(chunk: Uint8Array): Promise<void> {
    if (this.#failure !== undefined) return
    try {
      for (let at = 0; at < chunk.length; ) {
        if (this.#room === 0) await this.#rotate()
        const piece = chunk.subarray(at, at + this.#room)
        await this.#file.writeFile(piece)
        at += piece.length
        this.#room -= piece.length
        this.#currentBytes += piece.length
      }
    } catch (error) {
      this.#failure = error as Error
    }
  }

  async #rotate(): Promise<void> {
    const isFirst = this.#firstBytes === 0
    this.#dropped += this.#secondBytes
    // Write the mark before the rename: the new name says that the file comes after a gap.
    if (this.#dropped > 0) await this.#file.write(this.#gap(), 0, MARK_BYTES, 0)
    await rename(this.path, isFirst ? this.#first : this.#second)
    if (isFirst) this.#firstBytes = this.#currentBytes
    else this.#secondBytes = this.#currentBytes
    this.#currentBytes = 0
    const ended = this.#file
    this.#file = await openNew(this.path)
    await ended.close()
    await this.#file.writeFile(mark(`continues from ${basename(isFirst ? this.#first : this.#second)}`))
    this.#room = this.#fileBytes - MARK_BYTES
  }

  #gap(): Uint8Array {
    return mark(`${this.#dropped} bytes between ${basename(this.#first)} and this are not kept`)
  }

  async close(): Promise<void> {
    await this.#written
    await this.#file.close()
  }
}

function openNew(path: string): Promise<FileHandle> {
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants
  return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600)
}

function earlierPath(path: string, number: number): string {
  return path.replace(/\.log$/, `.${number}.log`)
}

function mark(text: string): Buffer {
  return Buffer.from(`${`[${text}]`.padEnd(MARK_BYTES - 1)}\n`)
}

/** The whole output of one run, streamed to a file that does not pass its cap. */
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'

export class RunLog {
  readonly path: string
  readonly #file: FileHandle
  readonly #maxBytes: number
  #left: number
  /** The writes follow one another. */
  #written: Promise<void> = Promise.resolve()
  #failure: Error | undefined

  private constructor(path: string, file: FileHandle, maxBytes: number) {
    this.path = path
    this.#file = file
    this.#maxBytes = maxBytes
    this.#left = maxBytes
  }

  static async open(path: string, maxBytes: number): Promise<RunLog> {
    const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants
    return new RunLog(path, await open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600), maxBytes)
  }

  /** Why the log ends early: the disk is full, say. The command goes on. */
  get failure(): Error | undefined {
    return this.#failure
  }

  /** Bytes that it has in the file. */
  get bytes(): number {
    return this.#maxBytes - this.#left
  }

  /** Resolves when the file has it: who waits for that before he reads on has no more than one piece in memory. Never rejects. */
  write(chunk: Uint8Array): Promise<void> {
    if (this.#left === 0 || this.#failure !== undefined) return this.#written
    const kept = chunk.subarray(0, this.#left)
    this.#left -= kept.length
    this.#append(kept)
    if (this.#left === 0) this.#append(Buffer.from(`\n[the log has its ${this.#maxBytes} bytes: what follows is not kept]\n`))
    return this.#written
  }

  #append(bytes: Uint8Array): void {
    this.#written = this.#written.then(() => this.#appendNow(bytes))
  }

  async #appendNow(bytes: Uint8Array): Promise<void> {
    if (this.#failure !== undefined) return
    try {
      await this.#file.writeFile(bytes)
    } catch (error) {
      this.#failure = error as Error
    }
  }

  async close(): Promise<void> {
    await this.#written
    await this.#file.close()
  }
}

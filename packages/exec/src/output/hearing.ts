/** Reads the output of a command to its end, or for as long as it can be the command's own. */
import type { Readable } from 'node:stream'
import { systemClock } from '@millrace/worker'
import type { RunLog } from '../logs/log.ts'
import type { Excerpt } from './excerpt.ts'

/** The time that a process outside the group may hold an output open. It is counted in checks, so that a busy thread reads first. */
const LOOK_MS = 100
const LOOKS = 20
/** More than pipes hold: output beyond this was written after the command was over. */
const HELD_BYTES = 64 * 2 ** 20

interface Output {
  readonly stream: Readable
  readonly excerpt: Excerpt
}

export class Hearing {
  readonly #outputs: readonly Output[]
  readonly #log: Pick<RunLog, 'write'> | undefined
  readonly #heard: Promise<unknown>
  #bytes = 0
  /** The number of chunks that the log has yet to take. */
  #writing = 0

  constructor(outputs: readonly Output[], log?: Pick<RunLog, 'write'>) {
    this.#outputs = outputs
    this.#log = log
    this.#heard = Promise.all(outputs.map((output) => this.#hear(output)))
    // `over` awaits this, and throws its error.
    this.#heard.catch(() => {})
  }

  /**
   * Call it when nothing of the command runs any more. Resolves when all of its output is kept, however long the log takes.
   *
   * @param cut called if another process holds an output open, which is then cut off
   */
  async over(cut: () => void): Promise<void> {
    const atEnd = this.#bytes
    let looks = 0
    let forget = () => {}
    const wait = () => {
      forget = systemClock.setTimer(LOOK_MS, look)
    }
    const look = () => {
      // Output of the command waits only for the log.
      if (this.#writing === 0) looks++
      if (looks < LOOKS && this.#bytes - atEnd < HELD_BYTES) return wait()
      cut()
      for (const { stream, excerpt } of this.#outputs) {
        if (!stream.readableEnded) excerpt.cut()
        stream.destroy()
      }
    }
    wait()
    try {
      await this.#heard
    } finally {
      forget()
    }
  }

  /** Reads on only when the log has the last chunk. A command that prints without end waits for the disk, and does not fill memory. */
  async #hear({ stream, excerpt }: Output): Promise<void> {
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        this.#bytes += chunk.length
        excerpt.add(chunk)
        this.#writing++
        await this.#log?.write(chunk)
        this.#writing--
      }
    } catch (error) {
      // Destroyed by `over`: only a process outside the command could write more.
      if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
    }
  }
}

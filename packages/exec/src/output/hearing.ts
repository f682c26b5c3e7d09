/** What a command says: read to its end, or for as long as it can be the command's own. */
import type { Readable } from 'node:stream'
import { systemClock } from '@millrace/worker'
import type { RunLog } from '../logs/log.ts'
import type { Excerpt } from './excerpt.ts'

/** How long a process that has left the group may hold an output open: in looks, so that a thread that was busy meanwhile reads first. */
const LOOK_MS = 100
const LOOKS = 20
/** More than pipes hold: what comes behind so much was said when the command was over. */
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
  /** Pieces that the log has yet to take. */
  #writing = 0

  constructor(outputs: readonly Output[], log?: Pick<RunLog, 'write'>) {
    this.#outputs = outputs
    this.#log = log
    this.#heard = Promise.all(outputs.map((output) => this.#hear(output)))
    // Looked at when the command is over.
    this.#heard.catch(() => {})
  }

  /**
   * To be called when nothing of the command runs any more. Resolves when all that it said is noted, however long the log takes for that.
   *
   * @param cut called where somebody else holds an output open, which is cut off then
   */
  async over(cut: () => void): Promise<void> {
    const atEnd = this.#bytes
    let looks = 0
    let forget = () => {}
    const wait = () => {
      forget = systemClock.setTimer(LOOK_MS, look)
    }
    const look = () => {
      // What the command has said waits for nothing but the log.
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

  /** Reads on only when the log has what was read: a command that prints without end waits for the disk, and not in memory. */
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
      // Destroyed, since nobody but a process that is none of the command's could say more.
      if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
    }
  }
}

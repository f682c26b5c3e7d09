/** Bytes as they come from a socket, in whatever pieces; payloads of whole frames out. */
import { WireError } from './errors.ts'

/** Of the length that leads every frame. */
export const HEADER_BYTES = 4

export interface FrameReaderOptions {
  /** Payloads of more bytes are refused by their length alone. */
  readonly frameBytes: number
}

const EMPTY = new Uint8Array(0)

export class FrameReader {
  /** Of the frames that begin from now on; a server raises it once it has greeted the client. */
  frameBytes: number
  /** Of the frame that has begun: its length, once known. */
  #length = -1
  #header = 0
  #headerBytes = 0
  /** What has come of its payload. Grows with what came, never with what was announced. */
  #kept = EMPTY
  #keptBytes = 0

  constructor({ frameBytes }: FrameReaderOptions) {
    this.frameBytes = frameBytes
  }

  /** In the middle of a frame: bytes of it have come, and more must. */
  get partial(): boolean {
    return this.#headerBytes > 0
  }

  /**
   * The payloads that are complete with this chunk. They may be views of it: decode them before its bytes change.
   *
   * @throws WireError FRAME_TOO_LARGE, BAD_FRAME; the reader is of no use after either
   */
  push(chunk: Uint8Array): readonly Uint8Array[] {
    const payloads: Uint8Array[] = []
    let at = 0
    while (at < chunk.length) {
      if (this.#length < 0) {
        at = this.#readHeader(chunk, at)
        if (this.#length < 0) break
      }
      const missing = this.#length - this.#keptBytes
      if (chunk.length - at < missing) {
        this.#keep(chunk.subarray(at))
        break
      }
      if (this.#keptBytes === 0) payloads.push(chunk.subarray(at, at + missing))
      else {
        this.#keep(chunk.subarray(at, at + missing))
        payloads.push(this.#kept.subarray(0, this.#length))
      }
      at += missing
      this.#begin()
    }
    return payloads
  }

  #begin(): void {
    this.#length = -1
    this.#header = 0
    this.#headerBytes = 0
    this.#kept = EMPTY
    this.#keptBytes = 0
  }

  #readHeader(chunk: Uint8Array, from: number): number {
    let at = from
    while (at < chunk.length && this.#headerBytes < HEADER_BYTES) {
      this.#header = this.#header * 256 + (chunk[at++] as number)
      this.#headerBytes++
    }
    if (this.#headerBytes === HEADER_BYTES) {
      if (this.#header > this.frameBytes) {
        const message = `a frame of ${this.#header} bytes: at most ${this.frameBytes} are taken here. Send less at a time`
        throw new WireError('FRAME_TOO_LARGE', message)
      }
      if (this.#header === 0) throw new WireError('BAD_FRAME', 'a frame of 0 bytes: every frame has a message')
      this.#length = this.#header
    }
    return at
  }

  /** Doubling what is kept copies each byte twice at most, in whatever pieces it came, and one block holds no crumbs. */
  #keep(bytes: Uint8Array): void {
    const wanted = this.#keptBytes + bytes.length
    if (wanted > this.#kept.length) {
      const wider = new Uint8Array(Math.min(this.#length, Math.max(wanted, this.#kept.length * 2)))
      wider.set(this.#kept.subarray(0, this.#keptBytes))
      this.#kept = wider
    }
    this.#kept.set(bytes, this.#keptBytes)
    this.#keptBytes = wanted
  }
}

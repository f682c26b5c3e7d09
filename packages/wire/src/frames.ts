/** Cuts the bytes of a socket, which arrive in any pieces, into the payloads of whole frames. */
import { WireError } from './errors.ts'

/** The size of the length that leads every frame. */
export const HEADER_BYTES = 4

export interface FrameReaderOptions {
  /** The most bytes of a payload: longer ones are refused by their length alone. */
  readonly frameBytes: number
}

const EMPTY = new Uint8Array(0)

export class FrameReader {
  /** The limit for frames that begin from now on; a server raises it once it has greeted the client. */
  frameBytes: number
  /** The length of the frame that has begun, once it is known. */
  #length = -1
  #header = 0
  #headerBytes = 0
  /** The bytes of its payload that have arrived. The block grows with them, never with the announced length. */
  #kept = EMPTY
  #keptBytes = 0

  constructor({ frameBytes }: FrameReaderOptions) {
    this.frameBytes = frameBytes
  }

  /** True in the middle of a frame: bytes of it have arrived, and more must. */
  get partial(): boolean {
    return this.#headerBytes > 0
  }

  /**
   * Returns the payloads that are complete with this chunk. They may be views of it: decode them before its bytes change.
   *
   * @throws WireError FRAME_TOO_LARGE, BAD_FRAME; the reader cannot be used after either
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

  /** Keeps bytes in one block, which holds no crumbs. Doubling it copies each byte at most twice, whatever pieces arrive. */
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

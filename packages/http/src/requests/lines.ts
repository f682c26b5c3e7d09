/** Splits a stream of bytes into whole lines, with at most a chunk and the line that it ends in in memory. */
import { isUtf8 } from 'node:buffer'
import { withoutMark } from '@millrace/core'

export interface Line {
  /** The number of the line, from 1. */
  readonly number: number
  /** The line without its end. Undefined if it is refused. */
  readonly text: string | undefined
  readonly fault?: string
}

const NEWLINE = 10

export class Lines {
  readonly #maxBytes: number
  /** The parts of the line that has not ended yet. */
  #rest: Uint8Array[] = []
  #restBytes = 0
  /** True if that line is too long: nothing of it is kept. */
  #overlong = false
  #number = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  push(chunk: Uint8Array): Line[] {
    const last = chunk.lastIndexOf(NEWLINE)
    if (last < 0) {
      this.#keep(chunk)
      return []
    }
    const first = chunk.indexOf(NEWLINE)
    const lines = [this.#end(chunk.subarray(0, first))]
    if (first < last) this.#whole(chunk.subarray(first + 1, last), lines)
    this.#keep(chunk.subarray(last + 1))
    return lines
  }

  /** Returns the last line if no newline follows it. */
  end(): Line[] {
    return this.#restBytes > 0 || this.#overlong ? [this.#end(new Uint8Array())] : []
  }

  #keep(part: Uint8Array): void {
    if (part.length === 0) return
    this.#restBytes += part.length
    if (this.#restBytes > this.#maxBytes) {
      this.#overlong = true
      this.#rest = []
    } else this.#rest.push(part)
  }

  #end(part: Uint8Array): Line {
    this.#keep(part)
    const [bytes, overlong] = [Buffer.concat(this.#rest), this.#overlong]
    this.#rest = []
    this.#restBytes = 0
    this.#overlong = false
    return overlong ? this.#tooLong() : this.#line(bytes)
  }

  /** Adds lines that begin and end in one chunk. They are decoded together. */
  #whole(bytes: Uint8Array, lines: Line[]): void {
    if (!isUtf8(bytes)) {
      for (let from = 0, to: number; from <= bytes.length; from = to + 1) {
        to = bytes.indexOf(NEWLINE, from)
        if (to < 0) to = bytes.length
        lines.push(to - from > this.#maxBytes ? this.#tooLong() : this.#line(bytes.subarray(from, to)))
      }
      return
    }
    for (const text of bufferOf(bytes).toString('utf8').split('\n')) {
      // A UTF-16 unit takes at most three bytes of UTF-8, so most lines need no count.
      const long = text.length * 3 > this.#maxBytes && Buffer.byteLength(text) > this.#maxBytes
      lines.push(long ? this.#tooLong() : { number: ++this.#number, text: withoutReturn(text) })
    }
  }

  #line(bytes: Uint8Array): Line {
    const number = ++this.#number
    if (!isUtf8(bytes)) return { number, text: undefined, fault: 'the line is not UTF-8' }
    const text = withoutReturn(bufferOf(bytes).toString('utf8'))
    return { number, text: number === 1 ? withoutMark(text) : text }
  }

  #tooLong(): Line {
    return { number: ++this.#number, text: undefined, fault: `the line has more than ${this.#maxBytes} bytes (maxLineBytes)` }
  }
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

function withoutReturn(text: string): string {
  return text.endsWith('\r') ? text.slice(0, -1) : text
}

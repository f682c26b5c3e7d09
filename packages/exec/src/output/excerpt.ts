/** The beginning and the end of a stream, in bounded memory, whatever its length. */
import { StringDecoder } from 'node:string_decoder'

/** The output of a command, as far as it was kept. */
export interface Captured {
  /** The whole output if nothing is cut off, else its beginning. Bytes that are not UTF-8 become U+FFFD. */
  readonly head: string
  /** The output after the head, without a gap unless `truncated`. */
  readonly tail: string
  /** The number of bytes of the whole output, kept or not. */
  readonly bytes: number
  /** True if output is missing between head and tail, or at the end because a process that left the command's group wrote more. */
  readonly truncated: boolean
}

const FIRST_BYTES = 4_096

export class Excerpt {
  readonly #share: number
  #bytes = 0
  #head = Buffer.alloc(0)
  #headLength = 0
  /** A ring buffer, created once the head is full. */
  #tail: Buffer | undefined
  #tailLength = 0
  #isCut = false

  /** @param share the maximum bytes of the head and of the tail, each; also as JSON */
  constructor(share: number) {
    this.#share = share
  }

  add(chunk: Buffer): void {
    this.#bytes += chunk.length
    const first = chunk.subarray(0, this.#share - this.#headLength)
    this.#reserve(this.#headLength + first.length)
    this.#headLength += first.copy(this.#head, this.#headLength)
    if (first.length < chunk.length) this.#addToTail(chunk.subarray(first.length))
  }

  /** Marks that the stream was not read to its end. */
  cut(): void {
    this.#isCut = true
  }

  #reserve(length: number): void {
    if (length <= this.#head.length) return
    const larger = Buffer.allocUnsafe(Math.min(this.#share, Math.max(FIRST_BYTES, length, this.#head.length * 2)))
    this.#head.copy(larger, 0, 0, this.#headLength)
    this.#head = larger
  }

  #addToTail(chunk: Buffer): void {
    this.#tail ??= Buffer.allocUnsafe(this.#share)
    const last = chunk.subarray(Math.max(0, chunk.length - this.#share))
    this.#tailLength += chunk.length - last.length
    const at = this.#tailLength % this.#share
    const before = last.copy(this.#tail, at)
    last.copy(this.#tail, 0, before)
    this.#tailLength += last.length
  }

  /** Returns the kept output as strings. */
  captured(): Captured {
    const decoder = new StringDecoder('utf8')
    const beginning = decoder.write(this.#head.subarray(0, this.#headLength))
    const ring = this.#tail ?? Buffer.alloc(0)
    if (this.#tailLength > this.#share) {
      const at = this.#tailLength % this.#share
      const end = decodedEnd(Buffer.concat([ring.subarray(at), ring.subarray(0, at)]))
      return this.#told(cutEnd(beginning, this.#share), cutStart(end, this.#share), true)
    }
    const text = beginning + decoder.write(ring.subarray(0, this.#tailLength)) + decoder.end()
    const head = cutEnd(text, this.#share)
    const tail = cutStart(text.slice(head.length), this.#share)
    return this.#told(head, tail, head.length + tail.length < text.length)
  }

  #told(head: string, tail: string, truncated: boolean): Captured {
    return { head, tail, bytes: this.#bytes, truncated: truncated || this.#isCut }
  }
}

/** Decodes bytes without the rest of a character that began before them. */
function decodedEnd(bytes: Buffer): string {
  let at = 0
  while (at < 3 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at++
  return bytes.toString('utf8', at)
}

/** Returns the number of bytes of a string within a JSON document. */
export function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2
}

/** Returns the number of bytes in a JSON document of a UTF-16 unit that is not part of a pair. */
function sizeOf(code: number): number {
  if (code < 0x20) return SHORT_ESCAPES.has(code) ? 2 : 6
  if (code < 0x80) return code === QUOTE || code === BACKSLASH ? 2 : 1
  if (code < 0x800) return 2
  // A lone half of a pair is escaped.
  return code >= 0xd800 && code <= 0xdfff ? 6 : 3
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** Backspace, tab, line feed, form feed, carriage return. */
const SHORT_ESCAPES: ReadonlySet<number> = new Set([8, 9, 10, 12, 13])

/** Returns the longest beginning of at most this many bytes. Counts in one pass: all other ways are slow for long strings. */
function cutEnd(text: string, bytes: number): string {
  let at = 0
  for (let left = bytes; at < text.length; ) {
    const code = text.charCodeAt(at)
    const isPair = (code & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00
    left -= isPair ? 4 : sizeOf(code)
    if (left < 0) break
    at += isPair ? 2 : 1
  }
  return text.slice(0, at)
}

/** Returns the longest end of at most this many bytes. */
function cutStart(text: string, bytes: number): string {
  let at = text.length
  for (let left = bytes; at > 0; ) {
    const code = text.charCodeAt(at - 1)
    const isPair = (code & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 2) & 0xfc00) === 0xd800
    left -= isPair ? 4 : sizeOf(code)
    if (left < 0) break
    at -= isPair ? 2 : 1
  }
  return text.slice(at)
}

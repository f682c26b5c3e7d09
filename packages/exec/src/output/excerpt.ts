/** The beginning and the end of what a stream said, in bounded memory, whatever its length. */
import { StringDecoder } from 'node:string_decoder'

export interface Captured {
  /** All of it where nothing is cut off; else the beginning. Bytes that are no UTF-8 are U+FFFD. */
  readonly head: string
  /** What follows the head, without a gap unless `truncated`. */
  readonly tail: string
  /** All that was said, kept or not. */
  readonly bytes: number
  /** Something is not kept: between head and tail, or behind them where a process that has left the command's group had more to say. */
  readonly truncated: boolean
}

const FIRST_BYTES = 4_096

export class Excerpt {
  readonly #share: number
  #bytes = 0
  #head = Buffer.alloc(0)
  #headLength = 0
  /** A ring, there once the head is full. */
  #tail: Buffer | undefined
  #tailLength = 0
  #isCut = false

  /** @param share bytes of the head and of the tail, each; as JSON each is no longer either */
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

  /** The stream was not heard to its end. */
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

  /** What it has kept, as text. */
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

/** Without the rest of a character that began before. */
function decodedEnd(bytes: Buffer): string {
  let at = 0
  while (at < 3 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at++
  return bytes.toString('utf8', at)
}

/** Of a text within a JSON document. */
export function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2
}

/** What a UTF-16 unit that is no part of a pair takes of a JSON document. */
function sizeOf(code: number): number {
  if (code < 0x20) return SHORT_ESCAPES.has(code) ? 2 : 6
  if (code < 0x80) return code === QUOTE || code === BACKSLASH ? 2 : 1
  if (code < 0x800) return 2
  // Half of a character alone is escaped.
  return code >= 0xd800 && code <= 0xdfff ? 6 : 3
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** Backspace, tab, line feed, form feed, carriage return. */
const SHORT_ESCAPES: ReadonlySet<number> = new Set([8, 9, 10, 12, 13])

/** The longest beginning that takes so many bytes at most. Counted once through: of what is long each other way is slow. */
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

/** The longest end that takes so many bytes at most. */
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

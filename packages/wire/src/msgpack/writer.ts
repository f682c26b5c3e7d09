/** Writes MessagePack: the few types that the protocol has, each in its shortest form, into one buffer that is reused. */
import { WireError } from '../errors.ts'
import { writeLoneSurrogates } from './surrogates.ts'

const FIRST_BYTES = 64 * 1024
/** The largest buffer that is kept: one large message is no reason to keep more. */
const KEPT_BYTES_MAX = 4 * 2 ** 20
/** Up to this length a loop is faster than a call into the runtime. */
const LOOP_UNITS_MAX = 12
/** Beyond this length it pays to count the bytes of a string. */
const COUNTED_UNITS_MIN = 4_096
const U32 = 2 ** 32

const float = new DataView(new ArrayBuffer(8))

export class Writer {
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES)
  #at = 0
  #elements = 0

  /** The number of array and map items since `begin`; a key and its value are two. */
  get elements(): number {
    return this.#elements
  }

  /** Begins a message. Its first `reserve` bytes are the caller's, to be set once the rest is known. */
  begin(reserve: number): void {
    this.#at = reserve
    this.#elements = 0
  }

  /** Returns the written bytes as their own block. */
  take(): Uint8Array {
    const taken = new Uint8Array(this.#at)
    taken.set(this.#at === this.#bytes.length ? this.#bytes : this.#bytes.subarray(0, this.#at))
    if (this.#bytes.length > KEPT_BYTES_MAX) this.#bytes = Buffer.allocUnsafeSlow(FIRST_BYTES)
    this.#at = 0
    return taken
  }

  nil(): void {
    this.#room(1)
    this.#bytes[this.#at++] = 0xc0
  }

  bool(value: boolean): void {
    this.#room(1)
    this.#bytes[this.#at++] = value ? 0xc3 : 0xc2
  }

  /** Writes whole numbers in their shortest form, all others as float64. −0 becomes 0. */
  number(value: number): void {
    if (Number.isSafeInteger(value)) this.#integer(value)
    else this.#float(value)
  }

  array(count: number): void {
    this.#elements += count
    this.#room(5)
    const bytes = this.#bytes
    if (count < 16) bytes[this.#at++] = 0x90 + count
    else this.#head(count, 0xdc, 0xdd)
  }

  map(count: number): void {
    this.#elements += 2 * count
    this.#room(5)
    if (count < 16) this.#bytes[this.#at++] = 0x80 + count
    else this.#head(count, 0xde, 0xdf)
  }

  text(value: string): void {
    const units = value.length
    // No UTF-16 unit takes more than three bytes; in a long string most of that room would be wasted.
    this.#room(5 + (units > COUNTED_UNITS_MIN ? Buffer.byteLength(value, 'utf8') : units * 3))
    if (units > LOOP_UNITS_MAX || !this.#ascii(value, units)) this.#utf8(value, units)
  }

  bytes(value: Uint8Array): void {
    const count = value.length
    this.#room(5 + count)
    const bytes = this.#bytes
    if (count < 256) {
      bytes[this.#at++] = 0xc4
      bytes[this.#at++] = count
    } else this.#head(count, 0xc5, 0xc6)
    bytes.set(value, this.#at)
    this.#at += count
  }

  #ascii(value: string, units: number): boolean {
    const bytes = this.#bytes
    let at = this.#at
    bytes[at++] = 0xa0 + units
    for (let index = 0; index < units; index++) {
      const unit = value.charCodeAt(index)
      if (unit > 127) return false
      bytes[at++] = unit
    }
    this.#at = at
    return true
  }

  #utf8(value: string, units: number): void {
    const bytes = this.#bytes
    const start = this.#at
    // Most strings are ASCII: then the head has the size that it would have for their units.
    const guess = textHeadBytes(units)
    let count = bytes.write(value, start + guess, 'utf8')
    if (count !== units && !value.isWellFormed()) count = writeLoneSurrogates(value, bytes, start + guess)
    const head = textHeadBytes(count)
    if (head !== guess) bytes.copyWithin(start + head, start + guess, start + guess + count)
    if (head === 1) bytes[start] = 0xa0 + count
    else if (head === 2) {
      bytes[start] = 0xd9
      bytes[start + 1] = count
    } else this.#head(count, 0xda, 0xdb)
    this.#at = start + head + count
  }

  #integer(value: number): void {
    this.#room(9)
    const bytes = this.#bytes
    let at = this.#at
    if (value >= 0) {
      if (value < 0x80) bytes[at++] = value
      else if (value < 0x100) {
        bytes[at++] = 0xcc
        bytes[at++] = value
      } else if (value < 0x10000) {
        bytes[at++] = 0xcd
        bytes[at++] = value >>> 8
        bytes[at++] = value
      } else if (value < U32) {
        bytes[at++] = 0xce
        at = this.#word(value, at)
      } else {
        bytes[at++] = 0xcf
        at = this.#word(Math.floor(value / U32), at)
        at = this.#word(value, at)
      }
    } else if (value >= -0x20) bytes[at++] = value
    else if (value >= -0x80) {
      bytes[at++] = 0xd0
      bytes[at++] = value
    } else if (value >= -0x8000) {
      bytes[at++] = 0xd1
      bytes[at++] = value >>> 8
      bytes[at++] = value
    } else if (value >= -0x80000000) {
      bytes[at++] = 0xd2
      at = this.#word(value, at)
    } else {
      bytes[at++] = 0xd3
      at = this.#word(Math.floor(value / U32), at)
      at = this.#word(value, at)
    }
    this.#at = at
  }

  /** Writes the low 32 bits, which JavaScript's bit operations use, also for negative numbers. */
  #word(value: number, at: number): number {
    const bytes = this.#bytes
    bytes[at] = value >>> 24
    bytes[at + 1] = value >>> 16
    bytes[at + 2] = value >>> 8
    bytes[at + 3] = value >>> 0
    return at + 4
  }

  #float(value: number): void {
    if (Number.isNaN(value)) throw new WireError('BAD_FRAME', 'NaN has no form in a message')
    this.#room(9)
    float.setFloat64(0, value)
    this.#bytes[this.#at++] = 0xcb
    for (let index = 0; index < 8; index++) this.#bytes[this.#at++] = float.getUint8(index)
  }

  #head(count: number, code16: number, code32: number): void {
    const bytes = this.#bytes
    if (count < 0x10000) {
      bytes[this.#at++] = code16
      bytes[this.#at++] = count >>> 8
      bytes[this.#at++] = count
    } else {
      bytes[this.#at++] = code32
      this.#at = this.#word(count, this.#at)
    }
  }

  #room(bytes: number): void {
    if (this.#bytes.length - this.#at >= bytes) return
    const wider = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#at + bytes))
    this.#bytes.copy(wider, 0, 0, this.#at)
    this.#bytes = wider
  }
}

function textHeadBytes(count: number): number {
  if (count < 32) return 1
  if (count < 0x100) return 2
  return count < 0x10000 ? 3 : 5
}

/**
 * Reads MessagePack: every length is checked against the rest of the payload, and against its limit, before anything is made
 * of it. Nothing that is read keeps the payload alive.
 */
import { type Refusal, UNSAFE_KEYS } from '@millrace/core'
import { WireError } from '../errors.ts'
import { readLoneSurrogates } from './surrogates.ts'

/** The limits for a value that is read without knowing what it is. */
export const BOUNDS = {
  /** The depth of arrays and maps within each other. */
  depth: 8,
  /** The items of an array. */
  items: 10_000,
  /** The keys of a map, and the characters of a key. */
  keys: 256,
  keyLength: 256,
} as const

const U32 = 2 ** 32
/** Up to this length a loop is faster than a call into the runtime. */
const LOOP_UNITS_MAX = 8
const NOTHING = Buffer.alloc(0)
const REPLACEMENT = '\ufffd'

const float = new DataView(new ArrayBuffer(8))

/** The number of bytes that follow the first byte of a number. */
const SCALAR_BYTES: Readonly<Record<number, number>> = {
  202: 4,
  203: 8,
  204: 1,
  205: 2,
  206: 4,
  207: 8,
  208: 1,
  209: 2,
  210: 4,
  211: 8,
}

export class Reader {
  #bytes: Buffer = NOTHING
  #at = 0
  #end = 0
  /** The number of array and map items that may still follow. */
  #elementsLeft = 0
  /** The field that is being read, for the message of an error. */
  where = ''

  /** @param elements the most items of all its arrays and maps: a byte can be one, and each takes many bytes here */
  open(payload: Uint8Array, elements: number): void {
    this.#elementsLeft = elements
    this.#bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength)
    this.#at = 0
    this.#end = payload.byteLength
    this.where = ''
  }

  close(): void {
    this.#bytes = NOTHING
  }

  /** Throws if anything follows. */
  finish(): void {
    if (this.#at !== this.#end) throw this.wrong(`${this.#end - this.#at} bytes follow the message`)
  }

  /** @param expected what the field must be and what it is, behind "must be", or a phrase that begins with "is" */
  wrong(expected: string): WireError {
    return new WireError('BAD_FRAME', this.#told(expected), { expected })
  }

  /** Returns an error as `wrong` does, for a value that breaks a bound of its field. */
  outside(limit: number, expected: string): WireError {
    return new WireError('BAD_FRAME', this.#told(expected), { expected, limit })
  }

  /** Returns an error as `outside` does, for a value that is well-formed and too large. */
  beyond(limit: number, expected: string): WireError {
    return new WireError('BAD_FRAME', this.#told(expected), { expected, limit, beyond: true })
  }

  /** Returns an error as `wrong` does, for fields that are wrong together, or for a value that core has checked. */
  refused(refusal: Refusal): WireError {
    return new WireError('BAD_FRAME', this.#told(refusal.message), { refusal })
  }

  /** True if the payload has more items than one frame may have: nothing more is read of it. */
  get exhausted(): boolean {
    return this.#elementsLeft < 0
  }

  #told(what: string): string {
    const where = this.where === '' ? '' : `${this.where}: `
    return `${where}${what} (before byte ${this.#at} of ${this.#end})`
  }

  /** The byte at which the next value begins, for `passOver`. */
  get place(): number {
    return this.#at
  }

  /**
   * Continues behind the value that begins at `place`, even if its content is wrong: no limit applies, and nothing is made of it.
   * Takes time in proportion to its bytes. Returns true if its end was found.
   */
  passOver(place: number): boolean {
    this.#at = place
    try {
      // Every item has at least one byte: no count can keep the loop running beyond the payload.
      for (let left = 1; left > 0; left--) left += this.#passHead()
    } catch (error) {
      if (error instanceof WireError) return false
      throw error
    }
    return true
  }

  /** Passes one value without its content; returns the number of values in it. */
  #passHead(): number {
    const code = this.#byte()
    if (code >> 4 === 9) return code & 15
    if (code === 0xdc || code === 0xdd) return this.#word(code === 0xdc ? 2 : 4)
    if (code >> 4 === 8) return 2 * (code & 15)
    if (code === 0xde || code === 0xdf) return 2 * this.#word(code === 0xde ? 2 : 4)
    this.#passScalar(code)
    return 0
  }

  #passScalar(code: number): void {
    if (code < 0x80 || code >= 0xe0 || code === 0xc0 || code === 0xc2 || code === 0xc3) return
    const bytes = SCALAR_BYTES[code] ?? Math.max(this.#textLength(code), this.#bytesLength(code))
    if (bytes < 0) throw this.wrong(`a value, got ${typeOf(code)}`)
    this.#at += this.#within(bytes)
  }

  /** Returns true if a nil is next, and then reads it. */
  nil(): boolean {
    if (this.#at < this.#end && this.#bytes[this.#at] === 0xc0) {
      this.#at++
      return true
    }
    return false
  }

  bool(): boolean {
    const code = this.#byte()
    if (code === 0xc3) return true
    if (code === 0xc2) return false
    throw this.wrong(`true or false, got ${typeOf(code)}`)
  }

  /** Reads a whole number of at most 53 bits. */
  integer(): number {
    const code = this.#byte()
    if (code < 0x80) return code
    const value = this.#number(code)
    if (!Number.isSafeInteger(value)) throw this.wrong(`a whole number of at most 53 bits, got ${value}`)
    return value
  }

  /** Reads any number but NaN. */
  number(): number {
    const code = this.#byte()
    return code < 0x80 ? code : this.#number(code)
  }

  /** Returns the number of items in an array: at most `max`, and at most as many as there are bytes for. */
  array(max: number): number {
    const code = this.#byte()
    if (code >> 4 === 9) return this.#count(code & 15, max, 1, 'array')
    if (code === 0xdc) return this.#count(this.#word(2), max, 1, 'array')
    if (code === 0xdd) return this.#count(this.#word(4), max, 1, 'array')
    throw this.wrong(`an array, got ${typeOf(code)}`)
  }

  /** Reads a string of at most `max` UTF-16 units. */
  text(max: number): string {
    const code = this.#byte()
    const length = this.#textLength(code)
    if (length < 0) throw this.wrong(`a string, got ${typeOf(code)}`)
    // A UTF-16 unit takes at most three bytes.
    if (length > max * 3) throw this.beyond(max, `a string of at most ${max} UTF-16 units, got ${length} bytes`)
    const text = this.#text(length)
    if (text.length > max) throw this.beyond(max, `a string of at most ${max} UTF-16 units, got ${text.length}`)
    return text
  }

  /** Returns the same string as last time if the bytes are the same: no other is made of them. */
  repeated(last: Repeated, max: number): string {
    const at = this.#at
    const bytes = this.#bytes
    const before = last.bytes
    const { length } = before
    if (length > 0 && length <= this.#end - at) {
      let same = 0
      while (same < length && bytes[at + same] === before[same]) same++
      if (same === length) {
        this.#at = at + length
        return last.text
      }
    }
    last.text = this.text(max)
    // The head is included, so the bytes only ever equal those of a string of the same length.
    last.bytes = this.#at - at > REPEATED_BYTES_MAX ? NOTHING : new Uint8Array(bytes.subarray(at, this.#at))
    return last.text
  }

  /** Reads JSON text, bytes as they are (a copy), or null. */
  data(): string | Uint8Array | null {
    const code = this.#byte()
    if (code === 0xc0) return null
    const length = this.#textLength(code)
    if (length >= 0) return this.#text(length)
    const bytes = this.#bytesLength(code)
    if (bytes < 0) throw this.wrong(`a string, bytes or nil, got ${typeOf(code)}`)
    return this.#copy(bytes)
  }

  /** Reads any value of plain types, at most 8 deep: maps become plain objects. */
  value(depth = 0): unknown {
    const code = this.#byte()
    if (code < 0x80 || code >= 0xe0) return this.#number(code)
    if (code >> 4 === 8 || code === 0xde || code === 0xdf) return this.#map(this.#mapCount(code), depth)
    if (code >> 4 === 9 || code === 0xdc || code === 0xdd) {
      this.#at--
      return this.#array(this.array(BOUNDS.items), depth)
    }
    const length = this.#textLength(code)
    if (length >= 0) return this.#text(length)
    const bytes = this.#bytesLength(code)
    if (bytes >= 0) return this.#copy(bytes)
    if (code === 0xc0) return null
    if (code === 0xc2 || code === 0xc3) return code === 0xc3
    return this.#number(code)
  }

  /** Passes a value that a newer peer has added. The limits are the same as for any other. */
  skip(depth = 0): void {
    const code = this.#byte()
    if (code < 0x80 || code >= 0xe0 || code === 0xc0 || code === 0xc2 || code === 0xc3) return
    if (code >> 4 === 8 || code === 0xde || code === 0xdf) {
      this.#enter(depth)
      for (let left = this.#mapCount(code); left > 0; left--) {
        this.skip(depth + 1)
        this.skip(depth + 1)
      }
    } else if (code >> 4 === 9 || code === 0xdc || code === 0xdd) {
      this.#enter(depth)
      this.#at--
      for (let left = this.array(BOUNDS.items); left > 0; left--) this.skip(depth + 1)
    } else {
      const length = Math.max(this.#textLength(code), this.#bytesLength(code))
      if (length >= 0) this.#at += length
      else this.#number(code)
    }
  }

  #array(count: number, depth: number): unknown[] {
    this.#enter(depth)
    const items: unknown[] = []
    for (let left = count; left > 0; left--) items.push(this.value(depth + 1))
    return items
  }

  #map(count: number, depth: number): Record<string, unknown> {
    this.#enter(depth)
    const result: Record<string, unknown> = {}
    for (let left = count; left > 0; left--) {
      const key = this.text(BOUNDS.keyLength)
      if (UNSAFE_KEYS.has(key)) throw this.wrong(`a map has no key ${key}`)
      if (Object.hasOwn(result, key)) throw this.wrong(`a map has each key once, not ${JSON.stringify(key)} again`)
      result[key] = this.value(depth + 1)
    }
    return result
  }

  #enter(depth: number): void {
    if (depth >= BOUNDS.depth) throw this.beyond(BOUNDS.depth, `arrays and maps at most ${BOUNDS.depth} deep`)
  }

  #mapCount(code: number): number {
    const count = code === 0xde ? this.#word(2) : code === 0xdf ? this.#word(4) : code & 15
    return this.#count(count, BOUNDS.keys, 2, 'map')
  }

  #count(count: number, max: number, itemBytes: number, what: string): number {
    if (count > max) throw this.beyond(max, `an ${what} of at most ${max} items, got ${count}`.replace('an map', 'a map'))
    if (count * itemBytes > this.#end - this.#at) throw this.wrong(`the payload ends within an ${what}`.replace('an map', 'a map'))
    this.#elementsLeft -= count * itemBytes
    if (this.#elementsLeft < 0)
      throw this.beyond(0, 'more items in one frame, those of all its arrays and maps together, than are taken: send less at a time')
    return count
  }

  /** Returns the length of a string that begins with this byte, checked against the rest; -1 if it is not a string. */
  #textLength(code: number): number {
    if (code >> 5 === 5) return this.#within(code & 31)
    if (code === 0xd9) return this.#within(this.#byte())
    if (code === 0xda) return this.#within(this.#word(2))
    if (code === 0xdb) return this.#within(this.#word(4))
    return -1
  }

  #bytesLength(code: number): number {
    if (code === 0xc4) return this.#within(this.#byte())
    if (code === 0xc5) return this.#within(this.#word(2))
    if (code === 0xc6) return this.#within(this.#word(4))
    return -1
  }

  #within(length: number): number {
    if (length > this.#end - this.#at) throw this.wrong(`${length} bytes, where ${this.#end - this.#at} are left`)
    return length
  }

  #copy(length: number): Uint8Array {
    const copy = new Uint8Array(this.#bytes.subarray(this.#at, this.#at + length))
    this.#at += length
    return copy
  }

  #text(length: number): string {
    const bytes = this.#bytes
    const start = this.#at
    const end = start + length
    this.#at = end
    if (length <= LOOP_UNITS_MAX) {
      let text = ''
      let at = start
      for (; at < end; at++) {
        const unit = bytes[at] as number
        if (unit > 127) break
        text += String.fromCharCode(unit)
      }
      if (at === end) return text
    }
    const text = bytes.toString('utf8', start, end)
    // Bytes that are not UTF-8 become replacements, as does half of a surrogate pair; the slow way distinguishes them.
    if (!text.includes(REPLACEMENT)) return text
    const exact = readLoneSurrogates(bytes, start, end)
    if (exact === undefined) throw this.wrong('a string of UTF-8')
    return exact
  }

  #number(code: number): number {
    if (code < 0x80) return code
    if (code >= 0xe0) return code - 0x100
    switch (code) {
      case 0xcc:
        return this.#byte()
      case 0xcd:
        return this.#word(2)
      case 0xce:
        return this.#word(4)
      case 0xcf:
        return this.#safe(this.#word(4) * U32 + this.#word(4))
      case 0xd0:
        return (this.#byte() << 24) >> 24
      case 0xd1:
        return (this.#word(2) << 16) >> 16
      case 0xd2:
        return this.#word(4) | 0
      case 0xd3:
        return this.#safe((this.#word(4) | 0) * U32 + this.#word(4))
      case 0xca:
      case 0xcb:
        return this.#float(code === 0xca ? 4 : 8)
      default:
        throw this.wrong(`a number, got ${typeOf(code)}`)
    }
  }

  #safe(value: number): number {
    if (!Number.isSafeInteger(value)) throw this.wrong('a whole number of at most 53 bits')
    return value
  }

  #float(size: number): number {
    this.#within(size)
    for (let index = 0; index < size; index++) float.setUint8(index, this.#bytes[this.#at++] as number)
    const value = size === 4 ? float.getFloat32(0) : float.getFloat64(0)
    if (Number.isNaN(value)) throw this.wrong('a number, got NaN')
    // −0 becomes 0.
    return value + 0
  }

  #byte(): number {
    if (this.#at >= this.#end) throw this.wrong('the payload ends too soon')
    return this.#bytes[this.#at++] as number
  }

  /** Reads two or four bytes, unsigned. */
  #word(size: 2 | 4): number {
    const at = this.#at
    if (this.#end - at < size) throw this.wrong('the payload ends too soon')
    this.#at = at + size
    const bytes = this.#bytes
    const high = ((bytes[at] as number) << 8) | (bytes[at + 1] as number)
    return size === 2 ? high : high * 0x10000 + (((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number))
  }
}

/** A string that mostly repeats, such as the name of a job or a queue. */
export interface Repeated {
  bytes: Uint8Array
  text: string
}

const REPEATED_BYTES_MAX = 256

export function repeated(): Repeated {
  return { bytes: NOTHING, text: '' }
}

function typeOf(code: number): string {
  if (code < 0x80 || code >= 0xe0 || (code >= 0xca && code <= 0xd3)) return 'a number'
  if (code >> 4 === 8 || code === 0xde || code === 0xdf) return 'a map'
  if (code >> 4 === 9 || code === 0xdc || code === 0xdd) return 'an array'
  if (code >> 5 === 5 || (code >= 0xd9 && code <= 0xdb)) return 'a string'
  if (code >= 0xc4 && code <= 0xc6) return 'bytes'
  if (code === 0xc0) return 'nil'
  if (code === 0xc1) return 'the byte c1, which MessagePack never uses'
  return code === 0xc2 || code === 0xc3 ? 'a boolean' : 'an extension type, and there are none'
}

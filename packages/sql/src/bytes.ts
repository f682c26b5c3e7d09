/** A growing buffer that is written from front to back and reused, and its reader. Numbers go up to 2^53. */

/** More than the longest encoding of one number takes. */
const NUMBER_BYTES = 16
/** Bit operations no longer work above this. */
const BITS_LIMIT = 2 ** 31

export class ByteWriter {
  #buffer: Buffer
  #length = 0

  constructor(bytes: number) {
    this.#buffer = Buffer.allocUnsafe(bytes)
  }

  clear(): void {
    this.#length = 0
  }

  /** Returns a view that is valid until the next `clear`. */
  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length)
  }

  byte(value: number): void {
    this.#reserve(1)
    this.#buffer[this.#length++] = value
  }

  unsigned(value: number): void {
    this.#reserve(NUMBER_BYTES)
    let rest = value
    while (rest >= BITS_LIMIT) {
      this.#buffer[this.#length++] = 0x80 | (rest % 128)
      rest = Math.floor(rest / 128)
    }
    while (rest >= 128) {
      this.#buffer[this.#length++] = 0x80 | (rest & 0x7f)
      rest >>>= 7
    }
    this.#buffer[this.#length++] = rest
  }

  /** Folds the number, so that small numbers of either sign stay short. */
  signed(value: number): void {
    this.unsigned(value < 0 ? -2 * value - 1 : 2 * value)
  }

  float(value: number): void {
    this.#reserve(8)
    this.#length = this.#buffer.writeDoubleLE(value, this.#length)
  }

  text(value: string): void {
    const bytes = Buffer.byteLength(value)
    this.unsigned(bytes)
    this.#reserve(bytes)
    this.#length += this.#buffer.write(value, this.#length)
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(2 * (this.#length + bytes))
    this.#buffer.copy(larger, 0, 0, this.#length)
    this.#buffer = larger
  }
}

export class ByteReader {
  readonly #buffer: Buffer
  #place = 0

  constructor(bytes: Uint8Array) {
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get done(): boolean {
    return this.#place >= this.#buffer.length
  }

  byte(): number {
    const value = this.#buffer[this.#place++]
    if (value === undefined) throw new RangeError('the bytes end too early')
    return value
  }

  unsigned(): number {
    let value = 0
    for (let weight = 1; ; weight *= 128) {
      const byte = this.byte()
      value += (byte & 0x7f) * weight
      if (byte < 128) return value
    }
  }

  signed(): number {
    const folded = this.unsigned()
    return folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2
  }

  float(): number {
    const value = this.#buffer.readDoubleLE(this.#place)
    this.#place += 8
    return value
  }

  text(): string {
    const bytes = this.unsigned()
    const value = this.#buffer.toString('utf8', this.#place, this.#place + bytes)
    this.#place += bytes
    return value
  }
}

/** Returns the length of a string in UTF-8 without copying it. A lone surrogate counts as the three bytes of its replacement. */

export function utf8Bytes(text: string): number {
  let bytes = text.length
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) continue
    if (unit < 0x800) bytes++
    else {
      bytes += 2
      // The second half of a pair: both together are four bytes.
      if (unit >= 0xd800 && unit < 0xdc00 && isLow(text.charCodeAt(index + 1))) index++
    }
  }
  return bytes
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000
}

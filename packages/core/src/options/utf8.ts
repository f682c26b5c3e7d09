/** Measures and cuts strings by their bytes in UTF-8. A lone surrogate counts as the three bytes of its replacement. */

/** Returns the length of a string in UTF-8 without copying it. */
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

/** Returns a string without lone surrogates in UTF-8. */
export function utf8Encoded(text: string): Uint8Array {
  const bytes = new Uint8Array(utf8Bytes(text))
  let at = 0
  for (const character of text) {
    const code = character.codePointAt(0) as number
    const more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3
    bytes[at++] = more === 0 ? code : ((0xff80 >> more) & 0xff) | (code >> (6 * more))
    for (let left = more - 1; left >= 0; left--) bytes[at++] = 0x80 | ((code >> (6 * left)) & 0x3f)
  }
  return bytes
}

/** Returns the longest beginning of a string that has at most that many bytes in UTF-8. No character is cut in two. */
export function utf8Start(text: string, bytesMax: number): string {
  if (text.length * 3 <= bytesMax) return text
  let bytes = 0
  let end = 0
  for (const character of text) {
    bytes += utf8Bytes(character)
    if (bytes > bytesMax) return text.slice(0, end)
    end += character.length
  }
  return text
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000
}

/**
 * Strings as JavaScript has them: half of a surrogate pair is written as the three bytes that UTF-8 would have for it (WTF-8).
 * So every string is read as it was written. Well-formed strings are plain UTF-8. These are the slow ways, for the few that need them.
 */

/** Writes a string that has halves to the bytes from `at`; returns the number of bytes. */
export function writeLoneSurrogates(text: string, bytes: Uint8Array, at: number): number {
  let to = at
  // The loop is by code points: a half is a code point of its own.
  for (const character of text) {
    const code = character.codePointAt(0) as number
    if (code < 0x80) bytes[to++] = code
    else {
      if (code < 0x800) bytes[to++] = 0xc0 | (code >> 6)
      else {
        if (code < 0x10000) bytes[to++] = 0xe0 | (code >> 12)
        else {
          bytes[to++] = 0xf0 | (code >> 18)
          bytes[to++] = 0x80 | ((code >> 12) & 0x3f)
        }
        bytes[to++] = 0x80 | ((code >> 6) & 0x3f)
      }
      bytes[to++] = 0x80 | (code & 0x3f)
    }
  }
  return to - at
}

/** Returns the string of these bytes; undefined if they are cut short, overlong, beyond U+10FFFF, or have a pair as two halves. */
export function readLoneSurrogates(bytes: Uint8Array, from: number, to: number): string | undefined {
  const parts: string[] = []
  let units: number[] = []
  let high = false
  for (let at = from; at < to; ) {
    const lead = bytes[at] as number
    const length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0
    if (length === 0 || at + length > to) return undefined
    let code = length === 1 ? lead : lead & (0x7f >> length)
    for (let index = 1; index < length; index++) {
      const next = bytes[at + index] as number
      if (next >> 6 !== 2) return undefined
      code = (code << 6) | (next & 0x3f)
    }
    if ((length === 3 && code < 0x800) || (length === 4 && (code < 0x10000 || code > 0x10ffff))) return undefined
    if (high && code >= 0xdc00 && code < 0xe000) return undefined
    high = code >= 0xd800 && code < 0xdc00
    if (code < 0x10000) units.push(code)
    else units.push(0xd7c0 + (code >> 10), 0xdc00 + (code & 0x3ff))
    if (units.length >= 4_096) {
      parts.push(String.fromCharCode(...units))
      units = []
    }
    at += length
  }
  parts.push(String.fromCharCode(...units))
  return parts.join('')
}

/** Frames as a broken or hostile peer may send them: a good one, changed in a few places. */
import type { Frame } from './corpus.ts'

/** What begins something, or is the last of its kind: more likely to hurt than any byte. */
const TELLING = [
  0x00, 0x7f, 0x80, 0x81, 0x8f, 0x90, 0x91, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xc4, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcc, 0xce, 0xcf, 0xd3,
  0xd4, 0xd8, 0xd9, 0xdb, 0xdc, 0xdd, 0xde, 0xdf, 0xe0, 0xff,
]
const CHANGES_MAX = 4
const BYTES_MAX = 64 * 1024

/** Answers the payload alone most of the time with a length that fits it: else few would get past their header. */
export function mutate(frames: readonly Frame[], random: () => number): Frame {
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T
  const below = (limit: number): number => Math.floor(random() * limit)
  const { from, bytes } = pick(frames)
  let payload: Uint8Array = bytes.slice(4)
  for (let left = random() < 0.6 ? 1 : 1 + below(CHANGES_MAX); left > 0; left--) payload = change(payload)
  const frame = new Uint8Array(4 + payload.length)
  frame.set(payload, 4)
  new DataView(frame.buffer).setUint32(0, below(20) === 0 ? below(2 ** 32) : payload.length)
  return { from: below(20) === 0 ? pick(['client', 'server']) : from, bytes: frame }

  function change(old: Uint8Array): Uint8Array {
    const at = below(old.length + 1)
    const to = Math.min(old.length, at + 1 + below(8))
    switch (below(7)) {
      case 0:
        return set(old, at, (old[at] ?? 0) ^ (1 << below(8)))
      case 1:
        return set(old, at, pick(TELLING))
      case 2:
        return set(old, at, below(256))
      case 3:
        return join(old.subarray(0, at), old.subarray(to))
      case 4:
        return join(
          old.subarray(0, at),
          Uint8Array.from({ length: 1 + below(6) }, () => (below(2) ? pick(TELLING) : below(256))),
          old.subarray(at),
        )
      case 5:
        return old.subarray(0, at)
      default: {
        const other = pick(frames).bytes
        const start = 4 + below(Math.max(1, other.length - 4))
        const whole = join(old.subarray(0, at), other.subarray(start, start + 1 + below(64)), old.subarray(below(2) ? at : to))
        return whole.subarray(0, BYTES_MAX)
      }
    }
  }
}

function set(old: Uint8Array, at: number, byte: number): Uint8Array {
  const copy = old.slice()
  if (at < copy.length) copy[at] = byte
  return copy
}

function join(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

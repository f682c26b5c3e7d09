/**
 * Mutated frames, as many as there is time for. Each has its own seed, so what is found is replayed by one number. A frame may
 * be refused, by WireError and nothing else; what is accepted must come out of the encoder as something that means the same.
 */
import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { seededRandom } from '@millrace/testkit/internal'
import { decodeMessage, encodeMessage, FrameReader, HEADER_BYTES, type Role, WireError } from '@millrace/wire'
import { corpus, type Frame } from './corpus.ts'
import { mutate } from './mutate.ts'

export interface Tally {
  frames: number
  accepted: number
  refused: Record<string, number>
  /** The most of what lives that there was more than after the warm-up. */
  grownBytes: number
}

const FRAME_BYTES = 2 ** 20
/** Of resident memory. */
const GROWTH_MAX_BYTES = 64 * 2 ** 20
/** Until then the runtime compiles, and makes its young generation as large as it wants it. */
const WARM_UP_FRAMES = 500_000
const LOOK_EVERY = 100_000

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

export function fuzz(seed: number, frames: number): Tally {
  const from = corpus()
  const tally: Tally = { frames: 0, accepted: 0, refused: {}, grownBytes: 0 }
  const warm = Math.min(WARM_UP_FRAMES, Math.floor(frames / 5))
  let before = 0
  for (let index = 0; index < frames; index++) {
    const random = seededRandom(seed + index)
    const frame = mutate(from, random)
    try {
      feed(frame, random, tally)
    } catch (error) {
      throw new Error(`seed ${seed + index}: ${Buffer.from(frame.bytes).toString('hex')} from the ${frame.from}`, { cause: error })
    }
    tally.frames++
    if (index === warm) before = livingBytes()
    else if (before > 0 && (index % LOOK_EVERY === 0 || index === frames - 1)) {
      const growth = livingBytes() - before
      tally.grownBytes = Math.max(tally.grownBytes, growth)
      assert.ok(growth < GROWTH_MAX_BYTES, `${Math.round(growth / 2 ** 20)} MiB more than at first, after ${index} frames`)
    }
  }
  return tally
}

/**
 * Resident memory without the room that the heap keeps for what is to come: the runtime lets its young generation grow with the
 * garbage that there is, whatever lives.
 */
function livingBytes(): number {
  collect()
  const { rss, heapTotal, heapUsed } = process.memoryUsage()
  return rss - heapTotal + heapUsed
}

function feed({ from, bytes }: Frame, random: () => number, tally: Tally): void {
  let payloads: Uint8Array[]
  try {
    payloads = read(bytes, random)
  } catch (error) {
    refuse(error, tally)
    return
  }
  for (const payload of payloads) {
    let message: ReturnType<typeof decodeMessage>
    try {
      message = decodeMessage(payload, from)
    } catch (error) {
      refuse(error, tally)
      continue
    }
    if (message.type === 'requests' && message.requests.some((request) => 'refusal' in request)) {
      tally.refused['request'] = (tally.refused['request'] ?? 0) + 1
      continue
    }
    tally.accepted++
    const again = encodeMessage(message)
    assert.deepEqual(encodeMessage(decode(again, from)), again)
  }
}

/** In pieces of any size. */
function read(bytes: Uint8Array, random: () => number): Uint8Array[] {
  const reader = new FrameReader({ frameBytes: FRAME_BYTES })
  const payloads: Uint8Array[] = []
  for (let at = 0; at < bytes.length; ) {
    const size = random() < 0.5 ? bytes.length : 1 + Math.floor(random() * 40)
    payloads.push(...reader.push(bytes.subarray(at, at + size)))
    at += size
  }
  return payloads
}

function decode(frame: Uint8Array, from: Role): ReturnType<typeof decodeMessage> {
  return decodeMessage(frame.subarray(HEADER_BYTES), from)
}

function refuse(error: unknown, tally: Tally): void {
  if (!(error instanceof WireError)) throw error
  tally.refused[error.code] = (tally.refused[error.code] ?? 0) + 1
}

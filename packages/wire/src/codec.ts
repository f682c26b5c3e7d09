/** Encodes messages to frames, and decodes payloads to messages. */
import { WireError } from './errors.ts'
import { HEADER_BYTES } from './frames.ts'
import type { Message, Role } from './message.ts'
import { Reader } from './msgpack/reader.ts'
import { Writer } from './msgpack/writer.ts'
import { MESSAGE } from './schema/messages.ts'
import { maySend } from './states.ts'

const writer = new Writer()
const reader = new Reader()

/**
 * The most items of arrays and maps in one frame, all together, by sender: tiny items take a hundred times their bytes in memory.
 * The largest call, 10,000 jobs with everything that a job can have, has 0.7 million; the statistics of 100,000 queues have 3 million.
 */
export const ELEMENTS_MAX: Readonly<Record<Role, number>> = { client: 1_000_000, server: 4_000_000 }

/** Returns the whole frame, header included, as its own block. The caller splits what is too much for one message. */
export function encodeMessage(message: Message): Uint8Array {
  return encodeCounted(message).frame
}

/** Encodes like `encodeMessage`; `elements` is counted as ELEMENTS_MAX counts. */
export function encodeCounted(message: Message): { readonly frame: Uint8Array; readonly elements: number } {
  writer.begin(HEADER_BYTES)
  MESSAGE.write(writer, message)
  const frame = writer.take()
  const length = frame.length - HEADER_BYTES
  frame[0] = length >>> 24
  frame[1] = length >>> 16
  frame[2] = length >>> 8
  frame[3] = length
  return { frame, elements: writer.elements }
}

/**
 * Returns the message that a payload holds. Nothing of it refers to the payload.
 *
 * @throws WireError BAD_FRAME, or BAD_MESSAGE for a message that `from` never sends
 */
export function decodeMessage(payload: Uint8Array, from: Role): Message {
  reader.open(payload, ELEMENTS_MAX[from])
  try {
    const message = MESSAGE.read(reader)
    if (!maySend(from, message.type)) throw new WireError('BAD_MESSAGE', `a ${from} never sends ${message.type}`)
    reader.finish()
    return message
  } finally {
    reader.close()
  }
}

/** Encodes and decodes the calls that a producer's journal keeps, in the same bytes as on the wire. */
import type { SourceEntry } from '@millrace/core'
import { ELEMENTS_MAX } from './codec.ts'
import { Reader } from './msgpack/reader.ts'
import { Writer } from './msgpack/writer.ts'
import { SOURCE_ENTRIES } from './schema/jobs.ts'

const writer = new Writer()
const reader = new Reader()

/** Encodes up to 10,000 entries. */
export function encodeEntries(entries: readonly SourceEntry[]): Uint8Array {
  writer.begin(0)
  SOURCE_ENTRIES.write(writer, entries)
  return writer.take()
}

/** @throws WireError BAD_FRAME */
export function decodeEntries(bytes: Uint8Array): readonly SourceEntry[] {
  reader.open(bytes, ELEMENTS_MAX.client)
  try {
    const entries = SOURCE_ENTRIES.read(reader)
    reader.finish()
    return entries
  } finally {
    reader.close()
  }
}

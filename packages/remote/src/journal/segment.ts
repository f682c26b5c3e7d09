/**
 * One file of a producer's journal: whose it is, then records. A record is what one sync made safe, and the next is begun after it:
 * so only the last one of a file can be torn, and nobody was told that it is safe.
 */
import { crc32 } from 'node:zlib'

const MAGIC = 'MRJ1'
const UUID_BYTES = 16
export const HEADER_BYTES = 32
/** Length, checksum of the payload, checksum of both. */
export const HEAD_BYTES = 12

/** The journal of one process: begun anew at each start, so that a copy of a folder never speaks for its original. */
export interface Source {
  /** Random. */
  readonly uuid: string
  /** Stands for it in the ids of its jobs. */
  readonly number: number
}

export interface SegmentHeader extends Source {
  /** The place of the first job in the source. */
  readonly first: number
}

export function encodeHeader({ uuid, number, first }: SegmentHeader): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES)
  bytes.write(MAGIC, 0, 'latin1')
  bytes.write(uuid.replaceAll('-', ''), MAGIC.length, 'hex')
  bytes.writeUInt32BE(number, 20)
  bytes.writeUInt32BE(first, 24)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 28)), 28)
  return bytes
}

/** Undefined where these are no such bytes. */
export function decodeHeader(bytes: Buffer): SegmentHeader | undefined {
  if (bytes.length < HEADER_BYTES || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return undefined
  if (crc32(bytes.subarray(0, 28)) !== bytes.readUInt32BE(28)) return undefined
  const hex = bytes.toString('hex', MAGIC.length, MAGIC.length + UUID_BYTES)
  const uuid = hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  return { uuid, number: bytes.readUInt32BE(20), first: bytes.readUInt32BE(24) }
}

export function encodeRecord(payload: Uint8Array): Buffer {
  const record = Buffer.allocUnsafe(HEAD_BYTES + payload.length)
  record.writeUInt32BE(payload.length, 0)
  record.writeUInt32BE(crc32(payload), 4)
  record.writeUInt32BE(crc32(record.subarray(0, 8)), 8)
  record.set(payload, HEAD_BYTES)
  return record
}

/** A record, or why there is none: the bytes end here, the record does not, or it is not what was written. */
export type Found = { readonly payload: Buffer; readonly next: number } | 'end' | 'torn' | 'damaged'

export function recordAt(bytes: Buffer, offset: number): Found {
  if (offset === bytes.length) return 'end'
  if (offset + HEAD_BYTES > bytes.length) return 'torn'
  const head = bytes.subarray(offset, offset + HEAD_BYTES)
  // A file may have been made longer, and its bytes never written.
  if (head.every((byte) => byte === 0)) return 'torn'
  // Were the length believed, what comes behind might be taken for the rest of a torn record.
  if (crc32(head.subarray(0, 8)) !== head.readUInt32BE(8)) return 'damaged'
  const next = offset + HEAD_BYTES + head.readUInt32BE(0)
  if (next > bytes.length) return 'torn'
  const payload = bytes.subarray(offset + HEAD_BYTES, next)
  if (crc32(payload) === head.readUInt32BE(4)) return { payload, next }
  return next === bytes.length ? 'torn' : 'damaged'
}

/**
 * One file of a producer's journal: a header that names its source, then records. A record is what one sync made safe, and the
 * next one begins after that sync. So only the last record of a file can be torn, and it was never reported as safe.
 */
import { crc32 } from 'node:zlib'
import type { Source } from '@millrace/client'

const MAGIC = 'MRJ1'
const UUID_BYTES = 16
export const HEADER_BYTES = 32
/** The length, the checksum of the payload, and the checksum of both. */
export const HEAD_BYTES = 12
/** The smallest unit that disks write at once. */
const BLOCK_BYTES = 512

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

/** Returns undefined if the bytes are not a header. */
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

/** A record, or the reason why there is none: the bytes end here, the record is cut off, or it is not what was written. */
export type Found = { readonly payload: Buffer; readonly next: number } | 'end' | 'torn' | 'damaged'

export function recordAt(bytes: Buffer, offset: number): Found {
  if (offset === bytes.length) return 'end'
  if (offset + HEAD_BYTES > bytes.length) return 'torn'
  if (!isHead(bytes, offset)) {
    // If the length were trusted, later records could pass for the rest of a torn one.
    const behind = offset + HEAD_BYTES
    const isTorn = isHalfWritten(bytes, offset) ? !hasHead(bytes, behind) : isUnwritten(bytes, behind)
    return isTorn ? 'torn' : 'damaged'
  }
  const next = offset + HEAD_BYTES + bytes.readUInt32BE(offset)
  if (next > bytes.length) return 'torn'
  const payload = bytes.subarray(offset + HEAD_BYTES, next)
  if (crc32(payload) === bytes.readUInt32BE(offset + 4)) return { payload, next }
  return isUnwritten(bytes, next) ? 'torn' : 'damaged'
}

function isHead(bytes: Buffer, offset: number): boolean {
  return crc32(bytes.subarray(offset, offset + 8)) === bytes.readUInt32BE(offset + 8)
}

/** True if a record begins anywhere behind `from`: then the bytes in front of it were safe. */
function hasHead(bytes: Buffer, from: number): boolean {
  for (let at = from; at + HEAD_BYTES < bytes.length; at++) {
    // Most places are ruled out by the length that they would give.
    const length = bytes.readUInt32BE(at)
    if (length > 0 && length < bytes.length && isHead(bytes, at)) return true
  }
  return false
}

/** True if a head, or its part on one side of a block border, was never written: a file may grow before its blocks are written. */
function isHalfWritten(bytes: Buffer, offset: number): boolean {
  const end = offset + HEAD_BYTES
  const border = Math.min(end, (Math.floor(offset / BLOCK_BYTES) + 1) * BLOCK_BYTES)
  return isUnwritten(bytes, offset, border) || (border < end && isUnwritten(bytes, border, end))
}

function isUnwritten(bytes: Buffer, from: number, to = bytes.length): boolean {
  return bytes.subarray(from, to).every((byte) => byte === 0)
}

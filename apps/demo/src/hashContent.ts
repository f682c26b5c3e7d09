/** The SHA-256 of one file's content: small files in one go, large ones streamed, so that a stop is heeded between two chunks. */
import { createHash, hash } from 'node:crypto'
import { closeSync, constants, createReadStream, fstatSync, openSync, readSync } from 'node:fs'
import { toSystem } from './filePath.ts'

export interface Content {
  /** The number of bytes that were read. */
  readonly size: number
  readonly sha256: string
  /** Device and inode, where the file has several names. */
  readonly inode?: string
}

const SMALL_BYTES = 256 * 1024
const CHUNK_BYTES = 2 ** 20

/** One per thread, which reads one small file at a time. */
const buffer = Buffer.allocUnsafe(SMALL_BYTES + 1)

/** A link or a pipe that took the file's place since its folder was read is an error, not a detour or an endless wait. */
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

export async function hashContent(path: string, signal: AbortSignal): Promise<Content> {
  const descriptor = openSync(toSystem(path), FLAGS)
  try {
    const stats = fstatSync(descriptor, { bigint: true })
    if (!stats.isFile()) throw new Error('it is no longer a regular file')
    const digest = readSmall(descriptor) ?? (await readLarge(descriptor, signal))
    return stats.nlink > 1n ? { ...digest, inode: `${stats.dev}:${stats.ino}` } : digest
  } finally {
    closeSync(descriptor)
  }
}

/** Undefined where the file is not small. */
function readSmall(descriptor: number): Content | undefined {
  let size = 0
  for (let read = -1; read !== 0; size += read) {
    if (size === buffer.length) return undefined
    read = readSync(descriptor, buffer, size, buffer.length - size, size)
  }
  return { size, sha256: hash('sha256', buffer.subarray(0, size), 'hex') }
}

async function readLarge(descriptor: number, signal: AbortSignal): Promise<Content> {
  const digest = createHash('sha256')
  let size = 0
  for await (const chunk of createReadStream('', { fd: descriptor, start: 0, autoClose: false, highWaterMark: CHUNK_BYTES, signal })) {
    digest.update(chunk)
    size += chunk.length
  }
  return { size, sha256: digest.digest('hex') }
}

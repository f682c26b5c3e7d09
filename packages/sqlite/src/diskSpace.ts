/** The disk space that a database takes, and that is left. It is asked for every few seconds, so each part costs microseconds. */
import { statfsSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Room } from '@millrace/core/kernel'
import { PAGE_BYTES } from './open/pragmas.ts'
import type { Shrink } from './shrink.ts'

/** @param file undefined for a database in memory */
export function diskSpaceOf({ freePages }: Pick<Shrink, 'freePages'>, file: string | undefined): Room {
  const { free, all } = freePages()
  const pages = { bytes: all * PAGE_BYTES, freeBytes: free * PAGE_BYTES }
  if (file === undefined) return pages
  const diskFreeBytes = diskFree(file)
  return { file: basename(file), ...pages, ...(diskFreeBytes !== undefined && { diskFreeBytes }) }
}

/** Returns undefined if the system does not report it. */
function diskFree(file: string): number | undefined {
  try {
    return freeBytesAt(file)
  } catch {
    return undefined
  }
}

/** Returns the bytes that the disk of a file has left for this user. */
export function freeBytesAt(file: string): number {
  const { bavail, bsize } = statfsSync(dirname(file))
  return bavail * bsize
}

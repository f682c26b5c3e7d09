/** A file of real bytes beside the database: given up when the disk is full, so that running jobs can still complete. */
import { closeSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

const CHUNK_BYTES = 2 ** 20

export interface Ballast {
  release(): void
  /** False where there is no room for it. */
  restore(): boolean
}

export const NO_BALLAST: Ballast = { release: () => {}, restore: () => true }

export function ballastBeside(file: string, bytes: number): Ballast {
  const path = `${file}-ballast`
  return {
    release: () => rmSync(path, { force: true }),
    restore: () => {
      try {
        if (statSync(path, { throwIfNoEntry: false })?.size === bytes) return true
        if (!hasRoom(path, bytes)) return false
        fill(path, bytes)
        return true
      } catch {
        rmSync(path, { force: true })
        return false
      }
    },
  }
}

/** As much again must stay free, or the disk would be full once more at once. */
function hasRoom(path: string, bytes: number): boolean {
  const { bavail, bsize } = statfsSync(dirname(path))
  return bavail * bsize >= 2 * bytes
}

function fill(path: string, bytes: number): void {
  const descriptor = openSync(path, 'w')
  try {
    // Not zeros: some file systems store those without taking room.
    const chunk = new Uint8Array(CHUNK_BYTES).fill(0x6d)
    // Not synced: the room is taken all the same, and nobody ever reads it.
    for (let written = 0; written < bytes; ) written += writeSync(descriptor, chunk, 0, Math.min(CHUNK_BYTES, bytes - written))
  } finally {
    closeSync(descriptor)
  }
}

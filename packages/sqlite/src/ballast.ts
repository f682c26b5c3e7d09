/** A file of real bytes beside the database. It is given up when the disk is full, so that running jobs can still complete. */
import { closeSync, lstatSync, rmSync, writeSync } from 'node:fs'
import { createFile, type Making } from './access.ts'
import { ballastFile } from './companionFiles.ts'
import { freeBytesAt } from './diskSpace.ts'

const CHUNK_BYTES = 2 ** 20

export interface Ballast {
  /** The number of bytes that must be free before `restore` takes its room again. */
  readonly neededBytes: number
  release(): void
  /** Returns false if there is no room for it. */
  restore(): boolean
}

export const NO_BALLAST: Ballast = { neededBytes: 0, release: () => {}, restore: () => true }

export function ballastBeside(file: string, bytes: number, making: () => Making): Ballast {
  const path = ballastFile(file)
  const neededBytes = 2 * bytes
  const release = () => rmSync(path, { force: true })
  return {
    neededBytes,
    release,
    restore: () => {
      try {
        const found = lstatSync(path, { throwIfNoEntry: false })
        if (found?.isFile() && found.nlink === 1 && found.size === bytes) return true
        // The same amount must stay free; otherwise the disk would be full again at once.
        if (freeBytesAt(path) < neededBytes) return false
        // A link is removed, not followed: its target is somebody else's file.
        release()
        fill(path, bytes, making())
        return true
      } catch {
        attempt(release)
        return false
      }
    },
  }
}

function fill(path: string, bytes: number, making: Making): void {
  const descriptor = createFile(path, making)
  try {
    // Some file systems store zeros without taking room.
    const chunk = new Uint8Array(CHUNK_BYTES).fill(0x6d)
    // No sync is needed: the room is taken anyway, and nobody ever reads it.
    for (let written = 0; written < bytes; ) written += writeSync(descriptor, chunk, 0, Math.min(CHUNK_BYTES, bytes - written))
  } finally {
    closeSync(descriptor)
  }
}

/** Ignores errors: a folder of that name, which the engine has not created, stays. */
function attempt(work: () => void): void {
  try {
    work()
  } catch {}
}

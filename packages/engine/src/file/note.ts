/**
 * The note of a shared file's owner beside the file, as plain text: who it is and what it speaks. It is for people and
 * error messages: only the lock decides. The note of a killed owner is overwritten by its successor.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { OwnerNote } from '../share/ownership.ts'

/** Writes the note whole or not at all, readable for this user alone. */
export function writeNote(path: string, note: OwnerNote): void {
  const partial = `${path}.${note.pid}.partial`
  rmSync(partial, { force: true })
  writeFileSync(partial, `${JSON.stringify(note)}\n`, { mode: 0o600, flag: 'wx' })
  renameSync(partial, path)
}

/** Returns the note; undefined if there is none, or none that can be understood. */
export function readNote(path: string): OwnerNote | undefined {
  try {
    const { host, boot, pid, epoch, schema, library, protocol, url } = JSON.parse(readFileSync(path, 'utf8'))
    if (typeof host !== 'string' || !Number.isSafeInteger(pid) || typeof library !== 'string') return undefined
    const [min, max] = Array.isArray(protocol) ? protocol : []
    return {
      host,
      boot: String(boot),
      pid,
      epoch: Number(epoch),
      schema: Number(schema),
      library,
      protocol: [Number(min), Number(max)],
      url: String(url),
    }
  } catch {
    return undefined
  }
}

/** Removes the note, unless it is a successor's. */
export function removeNote(path: string, { pid, epoch }: Pick<OwnerNote, 'pid' | 'epoch'>): void {
  const found = readNote(path)
  if (found?.pid === pid && found.epoch === epoch) rmSync(path, { force: true })
}

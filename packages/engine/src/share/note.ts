/**
 * The note of a shared file's owner beside the file, as plain text: who it is and what it speaks. It is for people and
 * error messages: only the lock decides. The note of a killed owner is overwritten by its successor.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'

export interface ShareNote {
  readonly host: string
  /** The id of the machine's last start; empty if the system does not report it. */
  readonly boot: string
  readonly pid: number
  /** The number of engines that have owned the file, including this one. */
  readonly epoch: number
  /** The schema version of the file. */
  readonly schema: number
  /** The name and version of the owner's library. */
  readonly library: string
  /** The lowest and highest version of the protocol. */
  readonly protocol: readonly [min: number, max: number]
  /** The address at which it is reached. */
  readonly url: string
}

/** Writes the note whole or not at all, readable for this user alone. */
export function writeShareNote(path: string, note: ShareNote): void {
  const partial = `${path}.${note.pid}.partial`
  rmSync(partial, { force: true })
  writeFileSync(partial, `${JSON.stringify(note)}\n`, { mode: 0o600, flag: 'wx' })
  renameSync(partial, path)
}

/** Returns the note; undefined if there is none, or none that can be understood. */
export function readShareNote(path: string): ShareNote | undefined {
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
export function removeShareNote(path: string, { pid, epoch }: Pick<ShareNote, 'pid' | 'epoch'>): void {
  const found = readShareNote(path)
  if (found?.pid === pid && found.epoch === epoch) rmSync(path, { force: true })
}

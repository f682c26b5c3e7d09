/**
 * What the owner of a shared file tells of itself beside it, as plain text: who it is and what it speaks. For people and error
 * messages; the lock alone decides. What a killed owner has left is overwritten by its successor.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'

export interface ShareNote {
  readonly host: string
  /** Of the machine since it last started; empty where the system does not tell. */
  readonly boot: string
  readonly pid: number
  /** How many engines have owned the file, this one included. */
  readonly epoch: number
  /** Of the file. */
  readonly schema: number
  /** Name and version of what runs there. */
  readonly library: string
  /** Lowest and highest version of the protocol. */
  readonly protocol: readonly [min: number, max: number]
  /** Where it is reached. */
  readonly url: string
}

/** Whole or not at all, and for this user alone. */
export function writeShareNote(path: string, note: ShareNote): void {
  const partial = `${path}.${note.pid}.partial`
  rmSync(partial, { force: true })
  writeFileSync(partial, `${JSON.stringify(note)}\n`, { mode: 0o600, flag: 'wx' })
  renameSync(partial, path)
}

/** Undefined where there is none, or none that can be understood. */
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

/** A successor's stays. */
export function removeShareNote(path: string, { pid, epoch }: Pick<ShareNote, 'pid' | 'epoch'>): void {
  const found = readShareNote(path)
  if (found?.pid === pid && found.epoch === epoch) rmSync(path, { force: true })
}

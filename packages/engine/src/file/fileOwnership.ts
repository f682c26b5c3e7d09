/** The meeting place of the processes that share a file: a socket and a note beside it, in a folder that only its owner can use. */
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NotWritableError } from '@millrace/core'
import type { Ownership } from '../share/ownership.ts'
import { readNote, removeNote, writeNote } from './note.ts'
import { realFile } from './realFile.ts'

/** The longest path of a Unix socket that every system accepts, in bytes. */
const PATH_BYTES = 100

/** A file's lock decides who owns it. The address and the note are the same for every path to the file. */
export function fileOwnership(file: string): Ownership {
  const { url, note } = meetingOf(file)
  return {
    store: 'the file',
    silence: 'it does not answer at its socket either: open the file with share: true in every process',
    pauseMs: { least: 20, most: 120 },
    isFoundByNote: false,
    lookEveryMs: undefined,
    listenAt: async () => ({ url }),
    // Its lock is free for whoever gets it.
    look: async () => ({ mayBeFree: true, where: { url }, note: readNote(note) }),
    holder: async () => undefined,
    reach: async () => ({ where: { url }, ownerUrl: url }),
    announce: async (owner) => writeNote(note, owner),
    withdraw: async (owner) => removeNote(note, owner),
  }
}

/** Returns the address of the owner and the path of its note. A socket whose path is too long moves to the runtime folder. */
function meetingOf(file: string): { readonly url: string; readonly note: string } {
  const real = realFile(file)
  const hash = createHash('sha256').update(real).digest('hex').slice(0, 24)
  const beside = `${real}-share`
  const note = join(beside, 'owner.json')
  if (process.platform === 'win32') {
    makeFolder(beside, false)
    return { url: `pipe:millrace-${hash}`, note }
  }
  trustedFolder(beside, real)
  const socket = join(beside, 'socket')
  return { url: `unix:${Buffer.byteLength(socket) <= PATH_BYTES ? socket : join(runtimeFolder(), hash)}`, note }
}

/** Returns `$XDG_RUNTIME_DIR/millrace`, or a folder of this user among the temporary files. */
function runtimeFolder(): string {
  const { XDG_RUNTIME_DIR: runtime } = process.env
  const user = process.getuid?.() ?? 0
  const folder = runtime === undefined || runtime === '' ? join(tmpdir(), `millrace-${user}`) : join(runtime, 'millrace')
  return trustedFolder(folder, undefined)
}

/** Returns a folder that belongs to this user alone, or to the owner of the file. Nothing in another user's folder is trusted. */
function trustedFolder(folder: string, file: string | undefined): string {
  makeFolder(folder, file === undefined)
  const stats = lstatSync(folder, { throwIfNoEntry: false })
  const owners = [process.getuid?.() ?? 0, file && statSync(file, { throwIfNoEntry: false })?.uid]
  // If it does not exist, the place of the file itself is at fault, and opening the file reports how.
  if (stats === undefined || (stats.isDirectory() && (stats.mode & 0o077) === 0 && owners.includes(stats.uid))) return folder
  const remedy = file === undefined ? `, set XDG_RUNTIME_DIR, or keep the file at a path of less than ${PATH_BYTES} bytes` : ''
  throw new NotWritableError(`${folder} is not this user's alone, as chmod 700 makes it: remove it${remedy}`)
}

function makeFolder(folder: string, recursive: boolean): void {
  try {
    mkdirSync(folder, { recursive, mode: 0o700 })
  } catch {
    // It exists, or cannot exist: the caller that looks at it reports that.
  }
}

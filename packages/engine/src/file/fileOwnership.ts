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

/**
 * A file's lock decides who owns it. The address and the note are the same for every path to the file. Only an owner makes the folder: a
 * process that is refused leaves nothing beside the file.
 *
 * @throws NotWritableError if the folder exists and others can use it
 */
export function fileOwnership(file: string): Ownership {
  const { url, note, folders } = addressesOf(file)
  assertTrusted(folders)
  return {
    store: 'the file',
    silence: 'it does not answer at its socket either: open the file with share: true in every process',
    pauseMs: { least: 20, most: 120 },
    isFoundByNote: false,
    lookEveryMs: undefined,
    listenAt: async () => {
      for (const { path, isDeep } of folders) makeFolder(path, isDeep)
      assertTrusted(folders)
      return { url }
    },
    // Its lock is free for whoever gets it.
    look: async () => ({ mayBeFree: true, where: { url }, note: readNote(note) }),
    holder: async () => undefined,
    reach: async () => {
      assertTrusted(folders)
      return { where: { url }, ownerUrl: url }
    },
    announce: async (owner) => writeNote(note, owner),
    withdraw: async (owner) => removeNote(note, owner),
  }
}

/** A folder that an owner makes. */
interface Folder {
  readonly path: string
  /** True to make the folders above it as well. */
  readonly isDeep: boolean
  /** The file beside it, whose owner may have made it; undefined elsewhere. */
  readonly beside: string | undefined
}

/** Returns the address of the owner and the path of its note. A socket whose path is too long moves to the runtime folder. */
function addressesOf(file: string): { readonly url: string; readonly note: string; readonly folders: readonly Folder[] } {
  const real = realFile(file)
  const hash = createHash('sha256').update(real).digest('hex').slice(0, 24)
  const beside: Folder = { path: `${real}-share`, isDeep: false, beside: real }
  const note = join(beside.path, 'owner.json')
  if (process.platform === 'win32') return { url: `pipe:millrace-${hash}`, note, folders: [beside] }
  const socket = join(beside.path, 'socket')
  if (Buffer.byteLength(socket) <= PATH_BYTES) return { url: `unix:${socket}`, note, folders: [beside] }
  const runtime: Folder = { path: runtimeFolder(), isDeep: true, beside: undefined }
  return { url: `unix:${join(runtime.path, hash)}`, note, folders: [beside, runtime] }
}

/** Returns `$XDG_RUNTIME_DIR/millrace`, or a folder of this user among the temporary files. */
function runtimeFolder(): string {
  const { XDG_RUNTIME_DIR: runtime } = process.env
  const user = process.getuid?.() ?? 0
  return runtime === undefined || runtime === '' ? join(tmpdir(), `millrace-${user}`) : join(runtime, 'millrace')
}

/** Checks that folders belong to this user alone, or to the owner of the file. Nothing in another user's folder is trusted. */
function assertTrusted(folders: readonly Folder[]): void {
  // Windows has no modes.
  if (process.platform === 'win32') return
  for (const { path, beside } of folders) {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    const owners = [process.getuid?.() ?? 0, beside && statSync(beside, { throwIfNoEntry: false })?.uid]
    // If it does not exist, there is no owner in it; if it cannot, opening the file reports how.
    if (stats === undefined || (stats.isDirectory() && (stats.mode & 0o077) === 0 && owners.includes(stats.uid))) continue
    const remedy = beside === undefined ? `, set XDG_RUNTIME_DIR, or keep the file at a path of less than ${PATH_BYTES} bytes` : ''
    throw new NotWritableError(`${path} is not this user's alone, as chmod 700 makes it: remove it${remedy}`)
  }
}

function makeFolder(folder: string, recursive: boolean): void {
  try {
    mkdirSync(folder, { recursive, mode: 0o700 })
  } catch {
    // It exists, or cannot exist: the caller that looks at it reports that.
  }
}

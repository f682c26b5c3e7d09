/** Where the processes that share a file meet: a socket beside it, in a folder that is its owner's alone. */
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NotWritableError } from '@millrace/core'
import { realFile } from '../realFile.ts'

/** What every system takes as the path of a Unix socket. */
const PATH_BYTES = 100

export interface Meeting {
  readonly url: string
  /** What its owner tells of itself. */
  readonly note: string
}

/** The same for every path that leads to the file. A socket whose path is too long moves to the runtime folder. */
export function meetingOf(file: string): Meeting {
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

/** `$XDG_RUNTIME_DIR/millrace`, or a folder of this user's own among the temporary files. */
function runtimeFolder(): string {
  const { XDG_RUNTIME_DIR: runtime } = process.env
  const user = process.getuid?.() ?? 0
  const folder = runtime === undefined || runtime === '' ? join(tmpdir(), `millrace-${user}`) : join(runtime, 'millrace')
  return trustedFolder(folder, undefined)
}

/** A folder of this user alone, or of whoever owns the file: of anybody else's nothing is trusted. */
function trustedFolder(folder: string, file: string | undefined): string {
  makeFolder(folder, file === undefined)
  const stats = lstatSync(folder, { throwIfNoEntry: false })
  const owners = [process.getuid?.() ?? 0, file && statSync(file, { throwIfNoEntry: false })?.uid]
  // Where there is none, the place of the file itself is at fault, and whoever opens it says how.
  if (stats === undefined || (stats.isDirectory() && (stats.mode & 0o077) === 0 && owners.includes(stats.uid))) return folder
  const remedy = file === undefined ? `, set XDG_RUNTIME_DIR, or keep the file at a path of less than ${PATH_BYTES} bytes` : ''
  throw new NotWritableError(`${folder} is not this user's alone, as chmod 700 makes it: remove it${remedy}`)
}

function makeFolder(folder: string, recursive: boolean): void {
  try {
    mkdirSync(folder, { recursive, mode: 0o700 })
  } catch {
    // It is there, or cannot be: whoever looks at it says so.
  }
}

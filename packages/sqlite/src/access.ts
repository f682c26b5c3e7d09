/**
 * Which users may read and write a database and the files beside it: their modes. Whoever can read one of them can also lock it, and so
 * stop the writer. Windows has no modes: nothing is set there, and the folder's permissions decide.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  linkSync,
  lstatSync,
  mkdtempSync,
  openSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { type FileAccess, NotWritableError } from '@millrace/core'
import { copiesBeside, filesBeside } from './beside.ts'
import type { Warn } from './options.ts'

const MODES: Readonly<Record<FileAccess, number>> = { owner: 0o600, group: 0o660 }
const OTHERS = 0o007
const GROUP = 0o070
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0
const HAS_MODES = process.platform !== 'win32'
/** A file system without hard links. */
const LINKLESS: ReadonlySet<string | undefined> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/** How files of a database are created. */
export interface Making {
  readonly mode: number
  /** The user and the group that get the file, if root creates it: those of the database. */
  readonly like: Stats | undefined
}

/** Without `access` new files take after a database that its group may use: somebody has set that. */
export function makingOf(file: string, access: FileAccess | undefined): Making {
  const like = statSync(file, { throwIfNoEntry: false })
  if (access !== undefined || !HAS_MODES) return { mode: MODES[access ?? 'owner'], like }
  const isOfGroup = like !== undefined && (like.mode & GROUP) !== 0 && (like.mode & OTHERS) === 0
  return { mode: isOfGroup ? MODES.owner | (like.mode & MODES.group) : MODES.owner, like }
}

/** Creates a file with its mode, whatever the umask; never through a link, and never in place of a file. Returns its open descriptor. */
export function createFile(path: string, { mode, like }: Making): number {
  const descriptor = openSync(path, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | NO_FOLLOW, MODES.owner)
  try {
    if (HAS_MODES && mode !== MODES.owner) fchmodSync(descriptor, mode)
    // As SQLite does with its log.
    if (like !== undefined && process.getuid?.() === 0) fchownSync(descriptor, like.uid, like.gid)
    return descriptor
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

/**
 * Creates an empty file that SQLite is going to lock, unless it exists. It is made elsewhere and gets its name when it is closed: to close
 * a descriptor of a file drops the locks that another thread of this process may have taken on it meanwhile.
 */
export function createLockable(path: string, making: Making): void {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return
  const folder = mkdtempSync(`${path}.partial-`)
  try {
    const made = join(folder, 'empty')
    closeSync(createFile(made, making))
    linkSync(made, path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Another engine was first; or SQLite creates it, and `restrict` sets its mode.
    if (code !== 'EEXIST' && !LINKLESS.has(code)) throw error
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Refuses what is not a plain file under a name that the engine writes to. @throws NotWritableError */
export function assertPlain(file: string): void {
  for (const path of filesBeside(file)) {
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found === undefined || found.isFile()) continue
    const what = found.isSymbolicLink() ? 'a symbolic link' : found.isDirectory() ? 'a folder' : 'a device, pipe or socket'
    throw new NotWritableError(`cannot open ${file}: ${path} is ${what}, and must be a plain file. Remove it`, { path })
  }
}

/**
 * Sets the modes of files that exist, by their paths: nothing is opened, so no lock is dropped. Without `access` only files that every user
 * may read are changed, and a group stays.
 */
export function restrict(file: string, access: FileAccess | undefined, warn: Warn): void {
  if (!HAS_MODES) return
  const { mode } = makingOf(file, access)
  const restricted: string[] = []
  for (const path of [file, ...filesBeside(file), ...copiesBeside(file)]) {
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found === undefined || !found.isFile()) continue
    const isWanted = access === undefined ? (found.mode & OTHERS) === 0 : (found.mode & 0o777) === mode
    if (isWanted) continue
    if (!setMode(path, mode, warn)) continue
    if ((found.mode & OTHERS) !== 0) restricted.push(basename(path))
  }
  if (restricted.length > 0) {
    warn(`other users could read files of ${file}: their mode is ${octal(mode)} now. fileAccess: 'group' lets their group in`, {
      files: restricted,
    })
  }
  if (access === undefined && (mode & GROUP) !== 0) {
    warn(`the group of ${file} can read it, and so can stop its writer: set fileAccess to 'group' to keep that, or to 'owner' to end it`, {
      mode: octal(mode),
    })
  }
}

function setMode(path: string, mode: number, warn: Warn): boolean {
  try {
    chmodSync(path, mode)
    return true
  } catch (error) {
    warn(`the mode of ${path} cannot be set to ${octal(mode)}, because it belongs to another user: that user must run chmod`, {
      error: (error as Error).message,
    })
    return false
  }
}

function octal(mode: number): string {
  return `0${mode.toString(8)}`
}

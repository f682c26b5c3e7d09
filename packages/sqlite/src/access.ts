/**
 * Sets the modes of a database and the files beside it: they decide which users may read and write them. A user who can read one
 * of these files can also lock it, and so stop the writer. Windows has no modes: nothing is set there, and the folder's
 * permissions decide.
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
import { companionFiles, migrationCopies } from './companionFiles.ts'
import type { Warn } from './options.ts'

const MODES: Readonly<Record<FileAccess, number>> = { owner: 0o600, group: 0o660 }
const OTHERS = 0o007
const GROUP = 0o070
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0
const HAS_MODES = process.platform !== 'win32'
/** Error codes of a file system without hard links. */
const LINKLESS: ReadonlySet<string | undefined> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/** The mode and the owner that new files of a database get. */
export interface Making {
  readonly mode: number
  /** The database's stats: a file that root creates gets the database's user and group. */
  readonly like: Stats | undefined
}

/** Returns the mode for new files. Without `access`, they follow a database that its group may use: somebody has set that. */
export function makingOf(file: string, access: FileAccess | undefined): Making {
  const like = statSync(file, { throwIfNoEntry: false })
  if (access !== undefined || !HAS_MODES) return { mode: MODES[access ?? 'owner'], like }
  const isOfGroup = like !== undefined && (like.mode & GROUP) !== 0 && (like.mode & OTHERS) === 0
  return { mode: isOfGroup ? MODES.owner | (like.mode & MODES.group) : MODES.owner, like }
}

/** Creates a file with the given mode, regardless of the umask. Never follows a link or replaces a file. Returns the open descriptor. */
export function createFile(path: string, { mode, like }: Making): number {
  const descriptor = openSync(path, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | NO_FOLLOW, MODES.owner)
  try {
    if (HAS_MODES && mode !== MODES.owner) fchmodSync(descriptor, mode)
    // SQLite does the same with its log.
    if (like !== undefined && process.getuid?.() === 0) fchownSync(descriptor, like.uid, like.gid)
    return descriptor
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

/**
 * Creates an empty file that SQLite is going to lock, unless it exists. The file is created elsewhere and gets its name after it
 * is closed: closing a descriptor of a file drops the locks that another thread of this process may have taken on it meanwhile.
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
    // Another engine was first; or SQLite creates the file, and `restrict` sets its mode.
    if (code !== 'EEXIST' && !LINKLESS.has(code)) throw error
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Rejects anything but a plain file under a name that the engine writes to. @throws NotWritableError */
export function assertPlain(file: string): void {
  for (const path of companionFiles(file)) {
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found === undefined || found.isFile()) continue
    const what = found.isSymbolicLink() ? 'a symbolic link' : found.isDirectory() ? 'a folder' : 'a device, pipe or socket'
    throw new NotWritableError(`cannot open ${file}: ${path} is ${what}, and must be a plain file. Remove it`, { path })
  }
}

/**
 * Sets the modes of existing files by their paths: it opens no file, so it drops no lock. Without `access`, it changes only files
 * that every user may read, and keeps a group's access.
 */
export function restrict(file: string, access: FileAccess | undefined, warn: Warn): void {
  if (!HAS_MODES) return
  const { mode } = makingOf(file, access)
  const restricted: string[] = []
  for (const path of [file, ...companionFiles(file), ...migrationCopies(file)]) {
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

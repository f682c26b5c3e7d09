/** Checks that a database can live at a path, before anything is created there. It only queries the file and never opens it. */
import { accessSync, constants, readlinkSync, realpathSync, type Stats, statfsSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { NotWritableError, UnsafeFilesystemError } from '@millrace/core'

/**
 * Returns the real path of a file, whatever links lead to it, even before the file exists. SQLite puts its log beside the real
 * file, so the owner's lock must be there, too.
 */
export function realFile(file: string, linksMax = LINKS_MAX): string {
  const path = resolve(file)
  try {
    return realpathSync(path)
  } catch {
    const target = linksMax > 0 ? linkTarget(path) : undefined
    if (target !== undefined) return realFile(resolve(dirname(path), target), linksMax - 1)
  }
  try {
    return join(realpathSync(dirname(path)), basename(path))
  } catch {
    return path
  }
}

/** The number of links that Linux follows: links that lead in a circle lead nowhere. */
const LINKS_MAX = 40

/** Returns the target of a link; undefined if the path is not a link. */
function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

export function checkPlace(file: string, platform: string, unsafeFilesystem: 'refuse' | 'allow'): void {
  const path = resolve(file)
  checkFolder(path)
  checkFile(path)
  if (look(path) !== undefined && !permits(path, constants.W_OK))
    throw new NotWritableError(`cannot open ${path}: the file is read-only. Give this user write access to it`, { path })
  // SQLite puts the log beside the real file.
  checkFolder(realFile(path))
  if (unsafeFilesystem === 'refuse') {
    checkLinks(path)
    checkFilesystem(path, platform)
  }
}

function checkFolder(path: string): void {
  const folder = dirname(path)
  const stats = look(folder)
  if (stats === undefined) throw new NotWritableError(`cannot open ${path}: the folder ${folder} does not exist. Create it first`, { path })
  if (!stats.isDirectory()) throw new NotWritableError(`cannot open ${path}: ${folder} is no folder`, { path })
  if (!permits(folder, constants.W_OK)) {
    throw new NotWritableError(
      `cannot open ${path}: the folder ${folder} is not writable, and SQLite keeps its log beside the file. Give this user write access to the folder`,
      { path },
    )
  }
}

/** Rejects whatever cannot be a database, before anything opens it: a named pipe would wait for its other end. @throws NotWritableError */
export function checkFile(path: string): void {
  const real = realFile(path)
  if (linkTarget(real) !== undefined) {
    throw new NotWritableError(`cannot open ${path}: its links lead in a circle. Name the file itself`, { path })
  }
  // better-sqlite3 removes blanks at the end: it would open another file than the one that is locked and checked.
  if (real !== real.trimEnd()) throw new NotWritableError(`cannot open ${path}: its name ends in a blank. Give it another name`, { path })
  const stats = look(path)
  if (stats === undefined) return
  if (stats.isDirectory())
    throw new NotWritableError(`cannot open ${path}: it is a folder. Name a file in it, as ${path}/jobs.db`, { path })
  if (!stats.isFile()) throw new NotWritableError(`cannot open ${path}: it is a device, a pipe or a socket. Name a file on disk`, { path })
  if (!permits(path, constants.R_OK))
    throw new NotWritableError(`cannot open ${path}: this user may not read it. Give the user read and write access to it`, { path })
}

/** Rejects hard links: each name would have a log and an owner of its own. */
function checkLinks(path: string): void {
  const links = look(path)?.nlink ?? 1
  if (links <= 1) return
  throw new UnsafeFilesystemError(
    `cannot open ${path}: the file has ${links} names (hard links), and who opens it by another one would overwrite what is written here. Copy it to a name of its own, or open it with unsafeFilesystem: 'allow' at your own risk`,
    { path, filesystem: 'a hard link' },
  )
}

/** `statfs` type numbers of Linux file systems that lose locks, share no memory between hosts, or report syncs that did not happen. */
const UNSAFE_TYPES: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9p'],
  [0x65735546, 'FUSE or virtiofs'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x01161970, 'GFS2'],
  [0x7461636f, 'OCFS2'],
  [0x786f4256, 'VirtualBox shared folder'],
  [0xbacbacbc, 'VMware shared folder'],
  [0x7c7c6673, 'Parallels shared folder'],
])

function checkFilesystem(path: string, platform: string): void {
  const kind = unsafeKind(realFile(path), platform)
  if (kind === undefined) return
  throw new UnsafeFilesystemError(
    `cannot open ${path}: it lies on ${kind}, where locks or syncs can be lost and commits with them. Put the file on a local disk, or open it with unsafeFilesystem: 'allow' at your own risk`,
    { path, filesystem: kind },
  )
}

/** Returns what makes a path's file system unsafe; undefined for an ordinary one. */
export function unsafeKind(path: string, platform: string): string | undefined {
  if (platform === 'linux') return unsafeType(statfsSync(dirname(path)).type)
  if (platform === 'win32' && path.startsWith('\\\\')) return 'a network share'
  return undefined
}

/** Returns the name of an unsafe file system by its Linux type number. */
export function unsafeType(type: number): string | undefined {
  // 32-bit kernels report it as a signed number.
  return UNSAFE_TYPES.get(type >>> 0)
}

function look(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    // A path through a file, or through a folder that may not be entered, counts as missing.
    return undefined
  }
}

function permits(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}

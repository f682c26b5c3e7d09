/** Makes files and their names survive a power cut. */
import { closeSync, fsyncSync, openSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'

/** The codes of a file system that cannot sync a folder. Windows has no such call: NTFS keeps a journal of names. */
const UNSYNCABLE: ReadonlySet<unknown> = new Set(['EINVAL', 'ENOTSUP', 'ENOSYS'])

/** Gives a file its name once its content is on disk. Nobody may have it open as a database: closing it here would drop those locks. */
export function renameDurably(partial: string, target: string): void {
  sync(partial, 'r+')
  renameSync(partial, target)
  syncFolderOf(target)
}

/** Call it after a file got its name. */
export function syncFolderOf(file: string): void {
  if (process.platform === 'win32') return
  try {
    sync(dirname(file), 'r')
  } catch (error) {
    if (!UNSYNCABLE.has((error as NodeJS.ErrnoException).code)) throw error
  }
}

function sync(path: string, flags: 'r' | 'r+'): void {
  const descriptor = openSync(path, flags)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

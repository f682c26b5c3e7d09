/** The queue's file: one place per folder, so that the same command finds its unfinished run again. */
import { createHash } from 'node:crypto'
import { access, constants, mkdir, readdir, realpath, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { CommandError } from './commandError.ts'
import type { IsOwn } from './scanFolder.ts'

/** The endings of the queue file (none) and of the files that SQLite and the engine keep beside it. */
const ENDINGS = /^(-wal|-shm|-journal|-ballast|-owner(\.json.*)?)?$/

/** The real path of the queue file; its folder exists from here on. */
export async function placeQueueFile(named: string | undefined, folder: string, cwd: string): Promise<string> {
  const file = resolve(cwd, named ?? join('.millrace', `demo-${createHash('sha256').update(folder).digest('hex').slice(0, 12)}.db`))
  try {
    await mkdir(dirname(file), { recursive: true })
    await access(dirname(file), constants.R_OK | constants.W_OK | constants.X_OK)
    return join(await realpath(dirname(file)), basename(file))
  } catch (error) {
    throw new CommandError(`the queue file ${file} cannot be created: ${(error as Error).message}`, { cause: error })
  }
}

/** After the engine has stopped. */
export async function removeQueueFile(file: string): Promise<void> {
  const home = dirname(file)
  for (const name of await readdir(home)) if (isOwn(basename(file), name)) await rm(join(home, name), { force: true })
}

/**
 * Tells the queue's own files, which this process must not open: to close any descriptor of a file drops the locks that SQLite
 * holds on it.
 */
export function queueFileTest(file: string): IsOwn {
  const home = dirname(file)
  return (folder, name) => folder === home && isOwn(basename(file), name)
}

function isOwn(base: string, name: string): boolean {
  return name.startsWith(base) && ENDINGS.test(name.slice(base.length))
}

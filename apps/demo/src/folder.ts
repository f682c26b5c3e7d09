/** The folder to look through: checked before anything else happens, so that a wrong one is one clear line. */
import { access, constants, realpath, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CommandError } from './commandError.ts'

const OWN_MODULES = new URL('../../../node_modules', import.meta.url)

/** The folder's real path. Links are followed here, in what the user named, and nowhere below it. */
export async function findFolder(named: string | undefined, cwd: string): Promise<string> {
  const folder = named ?? fileURLToPath(OWN_MODULES)
  try {
    const path = await realpath(resolve(cwd, folder))
    if (!(await stat(path)).isDirectory()) throw new CommandError(`${folder} is not a folder`)
    await access(path, constants.R_OK | constants.X_OK)
    return path
  } catch (error) {
    throw error instanceof CommandError ? error : new CommandError(reasonFor(folder, error), { cause: error })
  }
}

function reasonFor(folder: string, error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
      return `${folder} does not exist`
    case 'ENOTDIR':
      return `${folder} is not a folder: a part of its path is a file`
    case 'EACCES':
    case 'EPERM':
      return `${folder} cannot be read: permission denied`
    default:
      return `${folder} cannot be read: ${(error as Error).message}`
  }
}

/** Opens a daemon's control database, for a command that runs beside it. The code is loaded only when needed. */
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Control } from '../control/control.ts'
import type { Context } from './context.ts'
import { NotFoundError } from './errors.ts'
import { assertQueue, beside } from './target.ts'

export interface ControlOptions {
  /** Creates the control database if there is none yet. */
  readonly create?: boolean
}

/** @throws UsageError if only a URL is known; NotFoundError; the errors of `assertQueue` */
export async function controlOf(
  { target }: Pick<Context, 'target'>,
  { create = false }: ControlOptions = {},
): Promise<Control & Disposable> {
  const file = beside(target())
  const [{ Control, controlFileOf }, { SYSTEM }] = await Promise.all([
    import('../control/control.ts'),
    import('../control/surroundings.ts'),
  ])
  const isThere = existsSync(controlFileOf(file))
  // Nothing is put beside a file of another program, and the error names that file rather than what it lacks.
  if (create || (!isThere && existsSync(file))) await assertQueue(file, { create: true })
  if (!create && !isThere)
    throw new NotFoundError(
      `there is no ${controlFileOf(file)}: the first run of millrace serve creates it, or millrace token create. --file names another`,
    )
  const control = new Control(file, SYSTEM)
  return Object.assign(control, { [Symbol.dispose]: () => control.close() })
}

/** Returns what is wrong with the control database beside a file; undefined if it is sound, if there is none, or if it is another user's. */
export async function controlFault(file: string): Promise<string | undefined> {
  const [{ Control, controlFileOf }, { SYSTEM }] = await Promise.all([
    import('../control/control.ts'),
    import('../control/surroundings.ts'),
  ])
  const path = controlFileOf(file)
  const name = basename(path)
  // A daemon from which it was taken away has saved what it had.
  const saved = namesIn(dirname(path)).filter((each) => each.startsWith(`${name}.saved-`))
  if (saved.length > 0)
    return `${name} was taken away from a running daemon, which refuses calls that need admin. All that it had is in ${saved.join(', ')}: stop the daemon, move ${name} and its log away, and give a copy its name`
  if (!isReadable(path)) return undefined
  try {
    new Control(file, SYSTEM).close()
    return undefined
  } catch (error) {
    return `${name} cannot be used: ${(error as Error).message}`
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}

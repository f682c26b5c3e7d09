/** Opens a daemon's control database, for a command that runs beside it. The code is loaded only when needed. */
import { existsSync, statSync } from 'node:fs'
import type { Control } from '../control/control.ts'
import type { Context } from './context.ts'
import { NotFoundError } from './errors.ts'
import { beside } from './target.ts'

export interface ControlOptions {
  /** Creates the control database if there is none yet. */
  readonly create?: boolean
}

/** @throws UsageError if only a URL is known; NotFoundError; the errors of `inspectFile` */
export async function controlOf(
  { target }: Pick<Context, 'target'>,
  { create = false }: ControlOptions = {},
): Promise<Control & Disposable> {
  const file = beside(target())
  const [{ Control, controlFileOf }, { SYSTEM }] = await Promise.all([
    import('../control/control.ts'),
    import('../control/surroundings.ts'),
  ])
  if (!create && !existsSync(controlFileOf(file)))
    throw new NotFoundError(
      `there is no ${controlFileOf(file)}: the first run of millrace serve creates it, or millrace token create. --file names another`,
    )
  // Nothing is put beside a database of another program.
  if (create && (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0) (await import('@millrace/sqlite')).inspectFile(file)
  const control = new Control(file, SYSTEM)
  return Object.assign(control, { [Symbol.dispose]: () => control.close() })
}

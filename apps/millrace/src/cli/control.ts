/** Opens a daemon's control database, for a command that runs beside it. The code is loaded only when needed. */
import { existsSync } from 'node:fs'
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

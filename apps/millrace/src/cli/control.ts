/** What a daemon keeps beside its file, opened by a command that runs beside it. Loaded when it is asked for. */
import { existsSync } from 'node:fs'
import type { Control } from '../control/control.ts'
import type { Context } from './context.ts'
import { NotFoundError } from './errors.ts'
import { beside } from './target.ts'

export interface ControlOptions {
  /** Makes it where there is none yet. */
  readonly create?: boolean
}

/** @throws UsageError where only a URL is known; NotFoundError */
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
      `there is no ${controlFileOf(file)}: the first run of millrace serve makes it, or millrace token create; --file names another`,
    )
  const control = new Control(file, SYSTEM)
  return Object.assign(control, { [Symbol.dispose]: () => control.close() })
}
